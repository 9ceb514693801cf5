"""Number arithmetic, canonical texts, order and errors, compared with Python's decimal module."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keyplan.dynamodb.values import NumberError, add, canonical, compare, subtract

OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
TOO_PRECISE = "Attempting to store more than 38 significant digits in a Number"

digits = st.integers(min_value=-(10**38) + 1, max_value=10**38 - 1)
numbers = st.builds(lambda whole, exponent: f"{whole}E{exponent}", digits, st.integers(-130, 88))
near = st.builds(lambda whole, exponent: f"{whole}E{exponent}", st.integers(-999, 999), st.integers(-9, 9))
edges = st.builds(
    lambda sign, power, offset, exponent: f"{sign}{10**power + offset}E{exponent}",
    st.sampled_from(["", "-"]),
    st.integers(35, 40),
    st.integers(-2, 2),
    st.sampled_from([-170, -169, -168, -167, -38, -37, -1, 0, 1, 85, 86, 87, 88, 89]),
)
"""Numbers with about the maximum number of digits, near both ends of the range."""
every = st.one_of(near, numbers, edges)


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
def test_numbers_are_converted_to_their_canonical_text(text: str, expected: str) -> None:
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
def test_invalid_numbers_are_rejected(text: str, message: str) -> None:
    with pytest.raises(NumberError) as caught:
        canonical(text)
    assert str(caught.value) == message


def error_of(number: Decimal) -> str | None:
    """The expected error for a nonzero number, or None if DynamoDB can store it."""
    with localcontext(prec=400):
        digits = len(number.normalize().as_tuple().digits)
    if not -130 <= number.adjusted() <= 125:
        return OVERFLOW if number.adjusted() > 0 else UNDERFLOW
    return TOO_PRECISE if digits > 38 else None


@given(edges)
@example("1" * 39 + "E87")
@example("1" * 39 + "E-168")
def test_a_number_is_accepted_or_rejected_with_the_expected_error(text: str) -> None:
    expected = error_of(Decimal(text))
    if expected is None:
        assert Decimal(canonical(text)) == Decimal(text)
        return
    with pytest.raises(NumberError) as caught:
        canonical(text)
    assert (str(caught.value), caught.value.older) == (expected, expected)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("9" * 38, "9" * 38),
        ("9" * 38, "9" * 37),
        ("9" * 37, "9" * 38),
        ("9" * 38, "1"),
        ("9" * 37, "9" * 37),
        ("9" * 37, "0.1"),
        ("9" * 37, "0.01"),
        ("9" * 38 + "0" * 88, "1" + "0" * 88),
        ("0." + "0" * 129 + "1", "1"),
    ],
)
def test_sums_and_differences_near_the_limits_are_exact_or_rejected(left: str, right: str) -> None:
    for sign in ("", "-"):
        with localcontext(prec=400):
            values = {add: Decimal(left) + Decimal(sign + right), subtract: Decimal(left) - Decimal(sign + right)}
        for operation, value in values.items():
            if error_of(value) is None:
                assert Decimal(operation(left, sign + right)) == value
            else:
                with pytest.raises(NumberError, match="overflow"):
                    operation(left, sign + right)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("1", "1.0", 0), ("1E2", "100", 0), ("-0", "0", 0), ("9", "10", -1), ("-9", "-10", 1), ("0.1", "0.10", 0)],
)
def test_numbers_are_compared_by_value(left: str, right: str, expected: int) -> None:
    assert compare(left, right) == expected
    assert compare(right, left) == -expected


@given(every)
def test_the_canonical_text_of_a_number_has_an_equal_value(text: str) -> None:
    try:
        plain = canonical(text)
    except NumberError:
        assert error_of(Decimal(text)) is not None
        return
    assert Decimal(plain) == Decimal(text)
    assert canonical(plain) == plain
    assert "E" not in plain


@given(every, every)
def test_equal_numbers_have_equal_canonical_texts(text: str, other: str) -> None:
    try:
        texts = canonical(text), canonical(other)
    except NumberError:
        return
    assert (texts[0] == texts[1]) == (Decimal(text) == Decimal(other))
    assert compare(*texts) == Decimal(text).compare(Decimal(other))


@given(every, every)
def test_sums_and_differences_of_random_numbers_are_exact_or_rejected(text: str, other: str) -> None:
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
