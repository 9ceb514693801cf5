"""Numbers against Python's decimal: their one text, their order, their arithmetic, and what is refused."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.values import NumberError, add, canonical, compare, subtract

OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
TOO_PRECISE = "Attempting to store more than 38 significant digits in a Number"

digits = st.integers(min_value=-(10**38) + 1, max_value=10**38 - 1)
numbers = st.builds(lambda whole, exponent: f"{whole}E{exponent}", digits, st.integers(-130, 88))
near = st.builds(lambda whole, exponent: f"{whole}E{exponent}", st.integers(-999, 999), st.integers(-9, 9))
every = st.one_of(near, numbers)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("0.0", "0"),
        ("0E125", "0"),
        ("0e-130", "0"),
        ("00012", "12"),
        ("1.500", "1.5"),
        ("+5", "5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-00.50", "-0.5"),
        ("1e3", "1000"),
        ("1E-3", "0.001"),
        ("12.5E1", "125"),
        ("1E+50", "1" + "0" * 50),
        ("1E-130", "0." + "0" * 129 + "1"),
        ("0.1E-129", "0." + "0" * 129 + "1"),
        ("9" * 38 + "E88", "9" * 38 + "0" * 88),
        ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
        ("1234567890123456789012345678901234567800000", "1234567890123456789012345678901234567800000"),
    ],
)
def test_one_text_for_each_number(text: str, expected: str) -> None:
    assert canonical(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The parameter cannot be converted to a numeric value: "),
        *[
            (text, f"The parameter cannot be converted to a numeric value: {text}")
            for text in ("x", " 5", "5 ", "5\n", "1_0", "NaN", "Infinity", "0x1", "1e", "1e5.5", "1,5", ".", "-", "١",
                         "1e9223372036854775808", "1E99999999999999999999999999", "1e-9223372036854775809")
        ],
        ("1E126", OVERFLOW),
        ("-1E126", OVERFLOW),
        ("9" * 38 + "E89", OVERFLOW),
        ("1e9223372036854775807", OVERFLOW),
        ("1e00000000000000000000000000000000126", OVERFLOW),
        ("0e126", OVERFLOW),
        ("1E-131", UNDERFLOW),
        ("-1E-131", UNDERFLOW),
        ("1e-9223372036854775808", UNDERFLOW),
        ("0e-131", UNDERFLOW),
        ("0.0e-130", UNDERFLOW),
        ("123456789012345678901234567890123456789", TOO_PRECISE),
        ("1.00000000000000000000000000000000000001", TOO_PRECISE),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(NumberError) as caught:
        canonical(text)
    assert str(caught.value) == message


@given(every)
def test_the_canonical_text_is_the_same_number_and_stays(text: str) -> None:
    try:
        plain = canonical(text)
    except NumberError:
        assert not 1 <= abs(Decimal(text)).adjusted() + 131 <= 256
        return
    assert Decimal(plain) == Decimal(text)
    assert canonical(plain) == plain
    assert "E" not in plain


@given(every, every)
def test_equal_numbers_have_equal_texts(text: str, other: str) -> None:
    try:
        texts = canonical(text), canonical(other)
    except NumberError:
        return
    assert (texts[0] == texts[1]) == (Decimal(text) == Decimal(other))
    assert compare(*texts) == Decimal(text).compare(Decimal(other))


@given(every, every)
def test_sums_and_differences_are_exact_or_refused(text: str, other: str) -> None:
    try:
        left, right = canonical(text), canonical(other)
    except NumberError:
        return
    with localcontext(prec=400):
        expected = {add: Decimal(text) + Decimal(other), subtract: Decimal(text) - Decimal(other)}
    for operation, value in expected.items():
        try:
            result = operation(left, right)
        except NumberError:
            with localcontext(prec=400):
                needed = len(value.normalize().as_tuple().digits)
            assert needed > 38 or value.adjusted() > 125 or value.adjusted() < -130
        else:
            assert Decimal(result) == value
            assert canonical(result) == result
