"""Whether a row fits its schema, told before anything is grouped: one bad row would cost a whole file.

``fit_row`` brings values into the schema's types where nothing is lost (an int for a float, a tuple for a
list, another zone for UTC) and says what does not fit. ``mend_row`` makes any row fit; it is for records of
what went wrong, which must not get lost themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any

import pyarrow as pa

MAX_TEXT = 10_000_000
MAX_BINARY = 1_000_000
# What readers with nanoseconds (pandas before 3, Spark's INT96) can hold.
FIRST_TIME = datetime(1678, 1, 1, tzinfo=timezone.utc)
LAST_TIME = datetime(2262, 1, 1, tzinfo=timezone.utc)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

Fit = Callable[[Any], Any]


class _MisfitError(ValueError):
    """A value that does not fit; the message says why."""


def fit_row(row: Mapping[str, Any], schema: pa.Schema) -> tuple[dict[str, Any], list[str]]:
    """Returns the row in the order and types of the schema, and what does not fit.

    Args:
        row: Values by column; an absent column counts as null.
        schema: One of ``schema.TABLES``.

    Returns:
        The row (a value that does not fit as it came) and one line a problem: ``title: a lone surrogate``.
    """
    fitted: dict[str, Any] = {}
    problems = []
    for name, fit in _fits_of(schema):
        value = row.get(name)
        try:
            fitted[name] = fit(value)
        except _MisfitError as misfit:
            fitted[name] = value
            problems.append(f"{name}: {misfit}")
    problems += [f"{name}: no such column" for name in row if name not in fitted]
    return fitted, problems


def problems_of(row: Mapping[str, Any], schema: pa.Schema) -> list[str]:
    """Returns what does not fit the schema, one line a problem."""
    return fit_row(row, schema)[1]


def mend_row(row: Mapping[str, Any], schema: pa.Schema) -> dict[str, Any]:
    """Returns a row that fits, whatever came: bad values are repaired, cut, nulled or replaced by zero."""
    mended: dict[str, Any] = {}
    for field, (name, fit) in zip(schema, _fits_of(schema), strict=True):
        value = row.get(name)
        try:
            mended[name] = fit(value)
        except _MisfitError:
            mended[name] = _mended(value, field)
    return mended


# Building the functions costs more than a row. The schema stands beside its id so that it lives as long.
_FITS: dict[int, tuple[pa.Schema, list[tuple[str, Fit]]]] = {}


def _fits_of(schema: pa.Schema) -> list[tuple[str, Fit]]:
    found = _FITS.get(id(schema))
    if found is None:
        found = _FITS[id(schema)] = (schema, [(field.name, _fit_of(field)) for field in schema])
    return found[1]


def _fit_of(field: pa.Field) -> Fit:
    fit = _fit_of_type(field.type)
    nullable = field.nullable

    def fit_field(value: Any) -> Any:
        if value is None:
            if nullable:
                return None
            raise _MisfitError("null is not allowed")
        return fit(value)

    return fit_field


def _fit_of_type(kind: pa.DataType) -> Fit:
    if pa.types.is_string(kind):
        return _fit_text
    if pa.types.is_binary(kind):
        return _fit_bytes
    if pa.types.is_boolean(kind):
        return _fit_flag
    if pa.types.is_integer(kind):
        return _fit_integer(kind.bit_width)
    if pa.types.is_floating(kind):
        return _fit_float
    if pa.types.is_timestamp(kind):
        return _fit_time
    if pa.types.is_list(kind):
        return _fit_list(_fit_of(kind.value_field))
    if pa.types.is_struct(kind):
        return _fit_struct([(inner.name, _fit_of(inner)) for inner in kind])
    raise TypeError(f"no rule for {kind}")


def _fit_text(value: Any) -> str:
    if not isinstance(value, str):
        raise _MisfitError(f"a {type(value).__name__} instead of text")
    if len(value) > MAX_TEXT:
        raise _MisfitError(f"{len(value):,} characters, more than {MAX_TEXT:,}")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise _MisfitError(f"a lone surrogate at {error.start}") from None
    return value


def _fit_bytes(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise _MisfitError(f"a {type(value).__name__} instead of bytes")
    if len(value) > MAX_BINARY:
        raise _MisfitError(f"{len(value):,} bytes, more than {MAX_BINARY:,}")
    return value


def _fit_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _MisfitError(f"a {type(value).__name__} instead of true or false")
    return value


def _fit_integer(bits: int) -> Fit:
    limit = 1 << (bits - 1)

    def fit(value: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise _MisfitError(f"a {type(value).__name__} instead of an integer")
        if not -limit <= value < limit:
            raise _MisfitError(f"{value} has more than {bits} bits")
        return value

    return fit


def _fit_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _MisfitError(f"a {type(value).__name__} instead of a number")
    try:
        number = float(value)
    except OverflowError:
        raise _MisfitError("a number out of range") from None
    if not math.isfinite(number):
        raise _MisfitError(f"{number} is no number")
    return number


def _fit_time(value: Any) -> datetime:
    if not isinstance(value, datetime):
        raise _MisfitError(f"a {type(value).__name__} instead of a time")
    if value.tzinfo is None:
        raise _MisfitError("a time without zone")
    at = value
    if at.tzinfo is not timezone.utc:
        try:
            at = at.astimezone(timezone.utc)
        except (OverflowError, ValueError):
            raise _MisfitError("a time out of range") from None
    if not FIRST_TIME <= at < LAST_TIME:
        raise _MisfitError(f"the year {at.year} is out of range")
    return at


def _fit_list(fit: Fit) -> Fit:
    def fit_list(value: Any) -> list[Any]:
        if not isinstance(value, (list, tuple)):
            raise _MisfitError(f"a {type(value).__name__} instead of a list")
        return [fit(element) for element in value]

    return fit_list


def _fit_struct(fits: list[tuple[str, Fit]]) -> Fit:
    def fit_struct(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _MisfitError(f"a {type(value).__name__} instead of an object")
        fitted = {}
        name = ""
        try:
            for name, fit in fits:
                fitted[name] = fit(value.get(name))
        except _MisfitError as misfit:
            raise _MisfitError(f"{name}: {misfit}") from None
        return fitted

    return fit_struct


def _mended(value: Any, field: pa.Field) -> Any:
    if isinstance(value, str) and pa.types.is_string(field.type):
        return value[:MAX_TEXT].encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bytes) and pa.types.is_binary(field.type):
        return value[:MAX_BINARY]
    if field.nullable:
        return None
    if pa.types.is_string(field.type):
        return "" if value is None else str(value)[:1000].encode("utf-8", "replace").decode("utf-8")
    if pa.types.is_timestamp(field.type):
        return EPOCH
    if pa.types.is_list(field.type):
        return []
    return False if pa.types.is_boolean(field.type) else 0
