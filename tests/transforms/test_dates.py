from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.date_scan import scan, scan_usual
from transforms.dates import LENGTH_LIMIT, parse_date, read_date

NOW = datetime(2026, 11, 30, 18, 0, tzinfo=timezone.utc)

# Each line: as written | instant in UTC | s, m or d (precision), with ~ if the zone had to be assumed.
ODD_DATES = """
Tue, 10 Mar 2026 09:00:00 GMT | 2026-03-10T09:00:00 | s
Tue, 10 Mar 2026 09:00:00 +0100 | 2026-03-10T08:00:00 | s
Tue, 10 Mar 2026 09:00:00 -0330 | 2026-03-10T12:30:00 | s
Tue, 10 Mar 2026 09:00:00 -0000 | 2026-03-10T09:00:00 | s
Tue, 10 Mar 2026 09:00:00 --0500 | 2026-03-10T14:00:00 | s
Tue, 10 Mar 2026 09:00 UT | 2026-03-10T09:00:00 | m
10 Mar 2026 09:00:00 Z | 2026-03-10T09:00:00 | s
Tue,10 Mar 2026 9:5:3 GMT | 2026-03-10T09:05:03 | s
Tue , 10 Mar 2026 09:00:00GMT | 2026-03-10T09:00:00 | s
Tue, 10 Mar 26 09:00:00 EST | 2026-03-10T14:00:00 | s
Fri, 05 Jun 98 12:00:00 GMT | 1998-06-05T12:00:00 | s
Tue, 07 Jul 2026 16:18:00 EST | 2026-07-07T21:18:00 | s
Tue, 07 Jul 2026 16:18:00 EDT | 2026-07-07T20:18:00 | s
Tue, 07 Jul 2026 16:18:00 ET | 2026-07-07T20:18:00 | s
Wed, 07 Jan 2026 16:18:00 ET | 2026-01-07T21:18:00 | s
Wed, 07 Jan 2026 16:18:00 PT | 2026-01-08T00:18:00 | s
Wed, 07 Jan 2026 16:18:00 CST | 2026-01-07T22:18:00 | s
Wed, 07 Jan 2026 16:18:00 MDT | 2026-01-07T22:18:00 | s
Wed, 07 Jan 2026 16:18:00 AKST | 2026-01-08T01:18:00 | s
Wed, 07 Jan 2026 16:18:00 HST | 2026-01-08T02:18:00 | s
Tue, 07 Jul 2026 16:18:00 CEST | 2026-07-07T14:18:00 | s
Tue, 07 Jul 2026 16:18:00 MESZ | 2026-07-07T14:18:00 | s
Tue, 07 Jul 2026 16:18:00 BST | 2026-07-07T15:18:00 | s
Tue, 07 Jul 2026 16:18:00 EEST | 2026-07-07T13:18:00 | s
Tue, 07 Jul 2026 16:18:00 MSK | 2026-07-07T13:18:00 | s
Tue, 07 Jul 2026 16:18:00 IST | 2026-07-07T10:48:00 | s
Tue, 07 Jul 2026 16:18:00 NPT | 2026-07-07T10:33:00 | s
Tue, 07 Jul 2026 16:18:00 WIB | 2026-07-07T09:18:00 | s
Tue, 07 Jul 2026 16:18:00 HKT | 2026-07-07T08:18:00 | s
Tue, 07 Jul 2026 16:18:00 JST | 2026-07-07T07:18:00 | s
Tue, 07 Jul 2026 16:18:00 KST | 2026-07-07T07:18:00 | s
Wed, 07 Jan 2026 16:18:00 AEDT | 2026-01-07T05:18:00 | s
Wed, 07 Jan 2026 16:18:00 ACDT | 2026-01-07T05:48:00 | s
Wed, 07 Jan 2026 16:18:00 NZDT | 2026-01-07T03:18:00 | s
Wed, 07 Jan 2026 16:18:00 America/Chicago | 2026-01-07T22:18:00 | s
Tue, 07 Jul 2026 16:18:00 europe/madrid | 2026-07-07T14:18:00 | s
Tue, 07 Jul 2026 16:18:00 QQT | 2026-07-07T16:18:00 | s~
Tue, 07 Jul 2026 16:18:00 GMT+9 | 2026-07-07T07:18:00 | s
Tue, 07 Jul 2026 16:18:00 GMT-07:00 | 2026-07-07T23:18:00 | s
Tue, 07 Jul 2026 16:18:00 UTC+5:30 | 2026-07-07T10:48:00 | s
Tue, 07 Jul 2026 16:18:00 +0200 (CEST) | 2026-07-07T14:18:00 | s
Tue, 07 Jul 2026 16:18:00 -0700 PDT | 2026-07-07T23:18:00 | s
Tue, 07 Jul 2026 16:18:00 (CEST) | 2026-07-07T14:18:00 | s
Tue Jul 07 2026 16:18:00 GMT+0200 (Central European Summer Time) | 2026-07-07T14:18:00 | s
Tuesday, 07-Jul-26 16:18:00 GMT | 2026-07-07T16:18:00 | s
Tue Jul  7 16:18:00 2026 | 2026-07-07T16:18:00 | s~
Tue Jul 07 16:18:00 EDT 2026 | 2026-07-07T20:18:00 | s
Tue Jul 07 16:18:00 +0000 2026 | 2026-07-07T16:18:00 | s
Tue Jul 7 16:18:00 2026 EDT | 2026-07-07T20:18:00 | s
2026-03-10 | 2026-03-10T00:00:00 | d~
2026-3-1 | 2026-03-01T00:00:00 | d~
2026/03/10 | 2026-03-10T00:00:00 | d~
2026.03.10 14:15 | 2026-03-10T14:15:00 | m~
20260310 | 2026-03-10T00:00:00 | d~
20260310T141530Z | 2026-03-10T14:15:30 | s
20260310T1415+0100 | 2026-03-10T13:15:00 | m
20260310141530 | 2026-03-10T14:15:30 | s~
2026-03-10T14:15Z | 2026-03-10T14:15:00 | m
2026-03-10T14Z | 2026-03-10T14:00:00 | m
2026-03-10t14:15:30z | 2026-03-10T14:15:30 | s
2026-03-10T14:15:30.5Z | 2026-03-10T14:15:30.5 | s
2026-03-10T14:15:30,123456789Z | 2026-03-10T14:15:30.123456 | s
2026-03-10T14:15:30 | 2026-03-10T14:15:30 | s~
2026-03-10T14:15:30-05 | 2026-03-10T19:15:30 | s
2026-03-10T14:15:30+0545 | 2026-03-10T08:30:30 | s
2026-03-10T14:15:30 +01:00 | 2026-03-10T13:15:30 | s
2026-03-10T14:15:30−05:00 | 2026-03-10T19:15:30 | s
2026-03-10T14:15:30-05:00Z | 2026-03-10T19:15:30 | s
2026-03-10T14:15:30+01:00[Europe/Paris] | 2026-03-10T13:15:30 | s
2026-03-10T14:15:30[America/New_York] | 2026-03-10T18:15:30 | s
2026-03-10 14:15:30 UTC | 2026-03-10T14:15:30 | s
2026-03-10 14:15:30.000000 +0000 UTC | 2026-03-10T14:15:30 | s
2026-03-10 at 14:15:30 | 2026-03-10T14:15:30 | s~
2026-03-10 2:15 PM | 2026-03-10T14:15:00 | m~
2026-W11-2 | 2026-03-10T00:00:00 | d~
2026-W11-2T14:15:30Z | 2026-03-10T14:15:30 | s
2026-069 | 2026-03-10T00:00:00 | d~
2026-03-10T24:00:00Z | 2026-03-11T00:00:00 | s
2016-12-31T23:59:60Z | 2016-12-31T23:59:59 | s
1773152130 | 2026-03-10T14:15:30 | s
1773152130000 | 2026-03-10T14:15:30 | s
/Date(1773152130000+0100)/ | 2026-03-10T14:15:30 | s
Sat, Oct 24 2026 08:28:28 PM | 2026-10-24T20:28:28 | s~
Oct. 24, 2026, 6:11 p.m. | 2026-10-24T18:11:00 | m~
Oct. 24, 2026, 12:05 a.m. | 2026-10-24T00:05:00 | m~
October 24th, 2026 12:05 PM EDT | 2026-10-24T16:05:00 | m
Saturday, October 24, 2026 - 3:09pm | 2026-10-24T15:09:00 | m~
Saturday, October 24, 2026 at 9 am CDT | 2026-10-24T14:00:00 | m
10/24/2026 4:20 pm PST | 2026-10-25T00:20:00 | m
03/04/2026 4:20 PM | 2026-03-04T16:20:00 | m~
03/04/2026 16:20 CET | 2026-04-03T15:20:00 | m
03/04/2026 16:20 EST | 2026-03-04T21:20:00 | m
24/10/2026 16:20 | 2026-10-24T16:20:00 | m~
Sat, 10/24/2026 - 16:20 | 2026-10-24T16:20:00 | m~
Wed, 03/04/2026 | 2026-03-04T00:00:00 | d~
Fri, 03/04/2026 | 2026-04-03T00:00:00 | d~
Sat, 11 04 2020 08:51:49 +0100 | 2020-04-11T07:51:49 | s
10/30/23 21:55:58 | 2023-10-30T21:55:58 | s~
30.10.23 | 2023-10-30T00:00:00 | d~
10.3.2026 klo 14.30 | 2026-03-10T14:30:00 | m~
10. 3. 2026 14:30 | 2026-03-10T14:30:00 | m~
14:30 10.03.2026 +0100 | 2026-03-10T13:30:00 | m
10-Mar-2026 14:15 | 2026-03-10T14:15:00 | m~
2026-Mar-10 14:15 | 2026-03-10T14:15:00 | m~
2026 March 10 | 2026-03-10T00:00:00 | d~
Di, 10 Mär 2026 00:00:00 +0100 | 2026-03-09T23:00:00 | s
Dienstag, 10. März 2026, 14:30 Uhr | 2026-03-10T14:30:00 | m~
Do., 24. Dez. 2020 um 9 Uhr | 2020-12-24T09:00:00 | m~
mar., 10 mars 2026 14:30:00 +0100 | 2026-03-10T13:30:00 | s
mardi 1er décembre 2020 à 14h30 | 2020-12-01T14:30:00 | m~
ven., 07 août 2026 08:00:00 +0200 | 2026-08-07T06:00:00 | s
mar, 10 mar 2026 09:00:00 -0600 | 2026-03-10T15:00:00 | s
martes, 10 de marzo de 2026, 14:30 h | 2026-03-10T14:30:00 | m~
10 ene. 2026 2:30 p. m. | 2026-01-10T14:30:00 | m~
martedì 10 marzo 2026 alle ore 14:30 | 2026-03-10T14:30:00 | m~
gio, 01 ott 2026 09:00:00 +0200 | 2026-10-01T07:00:00 | s
terça-feira, 10 de março de 2026 às 14h30 | 2026-03-10T14:30:00 | m~
qui, 01 out 2026 09:00:00 -0300 | 2026-10-01T12:00:00 | s
dinsdag 10 maart 2026 14.30 uur | 2026-03-10T14:30:00 | m~
za, 02 mei 2026 09:00:00 +0200 | 2026-05-02T07:00:00 | s
lör, 03 okt 2026 09:00:00 +0200 | 2026-10-03T07:00:00 | s
wt., 10 listopada 2026 12:00:00 +0100 | 2026-11-10T11:00:00 | s
út, 10 bře 2026 12:00:00 +0100 | 2026-03-10T11:00:00 | s
2026. március 10., kedd 14:30 | 2026-03-10T14:30:00 | m~
10 Şubat 2026 Salı 14:30 | 2026-02-10T14:30:00 | m~
вт, 10 мар 2026 12:00:00 +0300 | 2026-03-10T09:00:00 | s
10 марта 2026 г., 12:00 | 2026-03-10T12:00:00 | m~
10 листопада 2026 р. 12:00 | 2026-11-10T12:00:00 | m~
Τρι, 10 Μαρ 2026 12:00:00 +0200 | 2026-03-10T10:00:00 | s
10 مارس 2026 12:00 | 2026-03-10T12:00:00 | m~
2026年3月10日 14:30 | 2026-03-10T14:30:00 | m~
2026年3月10日（火）午後2時30分 | 2026-03-10T14:30:00 | m~
2026년 3월 10일 오전 9시 5분 | 2026-03-10T09:05:00 | m~
２０２６年３月１０日 | 2026-03-10T00:00:00 | d~
"""

REFUSED = """
03/04/2026 16:20 | unreadable
03/04/06 16:20 | unreadable
١٠/٠٣/٢٠٢٦ | unreadable
10 listopada 2020 | unreadable
Nov. 2020 | unreadable
2026-03 | unreadable
2026 | unreadable
10 March | unreadable
14:15:30 | unreadable
March 2026 14:15 | unreadable
3 hours ago | unreadable
hace 2 días | unreadable
yesterday | unreadable
now | unreadable
TBD | unreadable
0 | unreadable
2026-02-30 | unreadable
2026-13-01 | unreadable
0000-00-00 00:00:00 | unreadable
Tue, 10 Mar 2026 25:00:00 GMT | unreadable
Tue, 10 Mar 2026 12:61:00 GMT | unreadable
Tue, 10 Mar 2026 12:00:00 +9900 | unreadable
2026-W54-1 | unreadable
2026-400 | unreadable
2026-03-10T07:18:53.846344Z 2026-01-15T15:33:55.288302Z | unreadable
10 March 2026 - 12 March 2026 | unreadable
10 March 2026 12:00 and 14:00 | unreadable
Tue, 10 Mar 2026 12:00:00 GMT, updated | unreadable
1970-01-01T00:00:00Z | implausible
Thu, 01 Jan 1970 05:30:00 +0530 | implausible
Mon, 01 Jan 0001 00:00:00 GMT | implausible
-62135596800 | unreadable
1899-12-30 | implausible
2026-12-03 | implausible
Thu, 03 Dec 2026 09:00:00 GMT | implausible
Thu, 05 Dec 26 09:00:00 GMT | implausible
10 มี.ค. 2569 | unreadable
1404-12-19 | implausible
"""


def _rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split(" | ")] for line in table.strip().splitlines()]


READ = _rows(ODD_DATES)


def test_the_list_of_odd_dates_is_long_enough() -> None:
    assert len(READ) + len(_rows(REFUSED)) >= 140


@pytest.mark.parametrize(("raw", "instant", "kind"), READ)
def test_odd_dates_are_read_as_written(raw: str, instant: str, kind: str) -> None:
    date, why = read_date(raw, now=NOW)
    assert why == ""
    assert date is not None
    whole, _, fraction = instant.partition(".")
    expected = datetime.fromisoformat(whole).replace(tzinfo=timezone.utc, microsecond=int((fraction + "000000")[:6]))
    assert (date.instant, date.precision[0], date.zone_known) == (expected, kind[0], "~" not in kind)
    assert date.raw == raw


@pytest.mark.parametrize(("raw", "why"), _rows(REFUSED))
def test_what_is_not_sure_is_not_read(raw: str, why: str) -> None:
    assert read_date(raw, now=NOW) == (None, why)


@pytest.mark.parametrize("raw", [None, "", "  \n"])
def test_nothing_is_missing_not_unreadable(raw: str | None) -> None:
    assert read_date(raw, now=NOW) == (None, "missing")


def test_year_comes_first_only_if_the_weekday_says_so() -> None:
    # 26 March 2010 was a Friday, 10 March 2026 a Tuesday.
    assert parse_date("Tue, 26 Mar 10 09:00:00 GMT", now=NOW).instant.date().isoformat() == "2026-03-10"  # type: ignore[union-attr]
    assert parse_date("Fri, 26 Mar 10 09:00:00 GMT", now=NOW).instant.date().isoformat() == "2010-03-26"  # type: ignore[union-attr]


def test_a_day_that_cannot_have_come_yet_settles_the_order() -> None:
    # On 20 March, 03/04 of the year is either 4 March or a 3 April that lies ahead.
    early = datetime(2026, 3, 20, tzinfo=timezone.utc)
    date = parse_date("03/04/2026 10:00", now=early)
    assert date is not None
    assert date.instant == datetime(2026, 3, 4, 10, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("zone", "instant"),
    [
        ("Europe/Madrid", "2026-07-07T14:18:00+00:00"),
        ("+05:30", "2026-07-07T10:48:00+00:00"),
        ("America/New_York", "2026-07-07T20:18:00+00:00"),
        ("No/Such_Place", "2026-07-07T16:18:00+00:00"),
        (None, "2026-07-07T16:18:00+00:00"),
    ],
)
def test_default_zone_applies_to_dates_without_one_and_is_told(zone: str | None, instant: str) -> None:
    date = parse_date("7 Jul 2026 16:18", now=NOW, default_zone=zone)
    assert date is not None
    assert (date.instant.isoformat(), date.zone_known) == (instant, False)


def test_default_zone_changes_nothing_where_a_zone_is_written() -> None:
    date = parse_date("7 Jul 2026 16:18 GMT", now=NOW, default_zone="Asia/Tokyo")
    assert date is not None
    assert (date.instant.isoformat(), date.zone_known) == ("2026-07-07T16:18:00+00:00", True)


@pytest.mark.parametrize(
    ("raw", "zone", "instant"),
    [
        ("7 Jul 2026 16:18 IST", "Europe/Dublin", "2026-07-07T15:18:00+00:00"),
        ("7 Jan 2026 16:18 IST", "Asia/Jerusalem", "2026-01-07T14:18:00+00:00"),
        ("7 Jul 2026 16:18 CST", "Asia/Shanghai", "2026-07-07T08:18:00+00:00"),
    ],
)
def test_shared_zone_names_mean_the_feeds_own_zone(raw: str, zone: str, instant: str) -> None:
    date = parse_date(raw, now=NOW, default_zone=zone)
    assert date is not None
    assert date.instant.isoformat() == instant


@pytest.mark.parametrize(("zone", "day"), [("Europe/Berlin", "2026-04-03"), ("America/Denver", "2026-03-04")])
def test_the_feeds_home_settles_the_order_of_day_and_month(zone: str, day: str) -> None:
    date = parse_date("03/04/2026 12:00", now=NOW, default_zone=zone)
    assert date is not None
    assert date.instant.date().isoformat() == day


def test_the_future_begins_in_48_hours() -> None:
    assert parse_date("2026-12-02T18:00:00Z", now=NOW) is not None
    assert read_date("2026-12-02T18:00:01Z", now=NOW) == (None, "implausible")


def test_long_input_is_not_looked_at() -> None:
    assert read_date("2026-03-10" + " " * LENGTH_LIMIT, now=NOW) == (None, "unreadable")


ALPHABET = st.sampled_from(
    [
        *"0123456789:-/.,+ TZ()[]'",
        "Mar",
        "mar",
        "Tue",
        "AM",
        "p.m.",
        "GMT",
        "EST",
        "W",
        "年",
        "月",
        "Europe/Paris",
        "\x00",
        "\ud800",
    ]
)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.text(max_size=40), st.lists(ALPHABET, max_size=24).map("".join)),
    st.sampled_from([None, "+02:00", "x\x00"]),
)
def test_any_text_gives_a_believable_date_or_none(raw: str, zone: str | None) -> None:
    date, why = read_date(raw, now=NOW, default_zone=zone)
    assert (date is None) == (why in ("missing", "unreadable", "implausible"))
    if date is not None:
        assert datetime(1970, 1, 1, tzinfo=timezone.utc) < date.instant <= NOW + timedelta(hours=48)
        assert date.precision in ("second", "minute", "day")


INSTANTS = st.datetimes(datetime(1971, 1, 1), datetime(2026, 11, 30))  # noqa: DTZ001
OFFSETS = st.integers(-12 * 60, 14 * 60)


@settings(max_examples=200, deadline=None)
@given(INSTANTS, OFFSETS)
def test_every_instant_comes_back_from_its_usual_forms(moment: datetime, offset: int) -> None:
    aware = moment.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=offset)))
    forms = (
        aware.isoformat(),
        aware.strftime("%Y%m%dT%H%M%S%z"),
        aware.strftime("%d %b %Y %H:%M:%S %z"),
        aware.strftime("%a, %d %b %Y %H:%M:%S %z"),
        aware.strftime("%B %d, %Y %I:%M:%S %p %z"),
        aware.strftime("%a %b %d %H:%M:%S %z %Y"),
        str(int(aware.timestamp())) if aware.timestamp() >= 10**8 else aware.isoformat(),
    )
    for form in forms:
        date, why = read_date(form, now=NOW)
        assert why == "", form
        assert date is not None
        assert date.instant == aware, form


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["", "Mon, ", "Dim, "]),
    st.integers(0, 32),
    st.sampled_from(["Jan", "Mar", "Ago", "Dez", "Lip", "Xyz"]),
    st.sampled_from(["1969", "2026", "0001"]),
    st.sampled_from(["09:00:00", "24:00:00", "25:61:00"]),
    st.sampled_from(["GMT", "+0100", "-1530", "+9900"]),
)
def test_the_fast_way_reads_as_the_general_one(
    weekday: str, day: int, month: str, year: str, clock: str, zone: str
) -> None:
    text = f"{weekday}{day} {month} {year} {clock} {zone}"
    fast, general = scan_usual(text), scan(text)
    if fast is not None:
        assert general is not None
        assert (fast.days("")[0], fast.clock(), fast.zone) == (general.days("")[0], general.clock(), general.zone)
