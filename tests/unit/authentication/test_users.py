"""The file of users: what is written is read, and a wrong line is named without its keys."""

from __future__ import annotations

import pytest

from kproxy.authentication.users import DEFAULT_ITERATIONS, Users, credential, line_of, name_problem, parsed, text_of

SHA_256, SHA_512 = "SCRAM-SHA-256", "SCRAM-SHA-512"
ONE = credential(SHA_256, "pencil", b"salt", 4096)
LINE = line_of("alice", ONE)


@pytest.mark.parametrize("name", ["alice", "a b", "a,b=c", "ä", "#no comment"])
def test_what_is_written_is_read(name: str) -> None:
    """Names with blanks and signs keep them; both mechanisms of a user stand beside each other."""
    other = credential(SHA_512, "pencil", b"other", 8192)
    text = "# a comment\n\n" + text_of([(name, ONE), (name, other)])
    assert parsed(text) == {(SHA_256, name): ONE, (SHA_512, name): other}
    assert Users(parsed(text), b"").names == {name}


def test_nothing_shows_a_key() -> None:
    """Neither the credential's own text, nor an error's."""
    assert "key" not in repr(ONE)
    with pytest.raises(ValueError, match="line 1") as wrong:
        parsed(LINE.replace("iterations", "rounds") + "\n")
    assert "salt" not in str(wrong.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LINE, "not whole"),
        (f"{LINE}\n{LINE}\n", "line 2: this user has an earlier line"),
        (LINE.replace("=4096", "=4095") + "\n", "line 1: has 4095 iterations, where 4096 to 100000 are allowed"),
        (LINE.replace("=4096", "=100001") + "\n", "line 1: has 100001 iterations"),
        (LINE.replace("SHA-256", "SHA-512") + "\n", "line 1: a key of SCRAM-SHA-512 has 64 bytes"),
        (LINE.replace("c2FsdA==", "c2FsdA") + "\n", "line 1: is not base64"),
        ("alice: secret\n", "line 1: is no user"),
        (LINE + " \n", "line 1: is no user"),
    ],
)
def test_files_that_are_refused(text: str, why: str) -> None:
    """Each names the line."""
    with pytest.raises(ValueError, match=why):
        parsed(text)


@pytest.mark.parametrize("name", ["", " a", "a\n", "a\0b", "x" * 256])
def test_names_that_no_line_can_hold(name: str) -> None:
    """They are refused before they are written."""
    assert name_problem(name)
    with pytest.raises(ValueError, match="name"):
        line_of(name, ONE)


def test_an_unknown_user_looks_like_the_others() -> None:
    """As many iterations as the file's highest, or the default of an empty file."""
    found, known = Users(parsed(LINE + "\n"), b"s").find(SHA_256, "nobody")
    assert (found.iterations, len(found.stored_key), known) == (4096, 32, False)
    found, known = Users({}, b"s").find_any("nobody")
    assert (found.iterations, known) == (DEFAULT_ITERATIONS, False)
