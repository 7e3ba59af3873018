"""How many rows a study needs: ``study`` is the verb, ``basis`` what it rests on, ``sizes`` the formulas."""
