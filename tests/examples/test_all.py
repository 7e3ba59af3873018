"""What holds for every example of the gallery."""

import pytest

from tests.examples import EXAMPLES

SCRIPTS = sorted(EXAMPLES.rglob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_can_be_read_at_one_sitting(path):
    assert len(path.read_text().splitlines()) <= 90


def test_every_section_says_what_it_is_about():
    for folder in {path.parent for path in SCRIPTS if path.parent.name != "gate"}:
        assert (folder / "GALLERY_HEADER.rst").exists(), folder.name
