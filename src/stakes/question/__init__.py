"""What is asked of rows: the table of options (``options.py``), and what a call made of it (``question.py``)."""
