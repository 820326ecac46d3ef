"""The words in which feeds and pages write dates: months, weekdays, time zones, and small words between.

Data for ``transforms/dates.py``. All words are kept folded (see ``fold``). A name that means different
months in different languages (Polish and Croatian ``listopada``) has both, and the reader must find out.
"""

from __future__ import annotations

import unicodedata

_LETTERS = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "'": "", "’": "", "ʼ": "", "`": ""})


def fold(word: str) -> str:
    """Returns a word in lower case, without accents and apostrophes: ``Août`` -> ``aout``."""
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c)).translate(_LETTERS)


# Languages in this order where they differ: English, German, French, Spanish, Italian, Portuguese, Dutch, Catalan,
# Swedish/Danish/Norwegian, Polish, Czech, Romanian, Hungarian, Turkish, Finnish, Indonesian, Croatian, Russian,
# Ukrainian, Greek, Arabic.
_MONTHS = (
    "january jan januar jänner jän janvier janv enero ene gennaio gen janeiro januari gener styczeń stycznia sty "
    "leden ledna led ianuarie ian január ocak oca tammikuu tammikuuta tammi siječanj siječnja sij "
    "январь января янв січень січня січ ιανουάριος ιανουαρίου ιαν يناير",
    "february feb febr februar feber février févr fév febrero febbraio fevereiro fev februari febrer luty lutego lut "
    "únor února úno februarie február şubat şub helmikuu helmikuuta helmi veljača veljače velj "
    "февраль февраля фев февр лютий лютого лют φεβρουάριος φεβρουαρίου φεβ φεβρ فبراير",
    "march mar märz mär mrz mars marzo março maart mrt març marts marzec marca březen března bře martie március márc "
    "mart maaliskuu maaliskuuta maalis maret ožujak ožujka ožu "
    "март марта мар березень березня бер μάρτιος μαρτίου μαρ μαρτ مارس",
    "april apr avril avr abril abr aprile kwiecień kwietnia kwi duben dubna dub aprilie április ápr nisan nis "
    "huhtikuu huhtikuuta huhti travanj travnja апрель апреля апр квітень квітня кві квіт απρίλιος απριλίου απρ "
    "أبريل ابريل",
    "may mai mayo maggio mag maio mei maig maj maja květen května kvě május máj mayıs toukokuu toukokuuta touko "
    "svibanj svibnja svi май мая травень травня трав μάιος μαΐου μαι مايو",
    "june jun juni juin junio giugno giu junho juny czerwiec czerwca cze červen června čvn iunie iun június jún "
    "haziran haz kesäkuu kesäkuuta kesä lipanj lipnja июнь июня июн червень червня чер черв "
    "ιούνιος ιουνίου ιουν يونيو",
    "july jul juli juillet juil julio luglio lug julho juliol lipiec lipca červenec července čvc iulie iul július júl "
    "temmuz tem heinäkuu heinäkuuta heinä srpanj srpnja июль июля июл липень липня лип ιούλιος ιουλίου ιουλ يوليو",
    "august aug août agosto ago augustus agost augusti sierpień sierpnia sie srpen srpna augusztus ağustos ağu "
    "elokuu elokuuta elo agustus agt kolovoz kolovoza kol август августа авг серпень серпня сер серп "
    "αύγουστος αυγούστου αυγ أغسطس اغسطس",
    "september sep sept septembre septiembre settembre set setembro setembre wrzesień września wrz září zář "
    "septembrie szeptember szept eylül eyl syyskuu syyskuuta syys rujan rujna ruj сентябрь сентября сен сент "
    "вересень вересня вер σεπτέμβριος σεπτεμβρίου σεπ σεπτ سبتمبر",
    "october oct oktober okt octobre octubre ottobre ott outubro out październik października paź říjen října říj "
    "octombrie október ekim eki lokakuu lokakuuta loka октябрь октября окт жовтень жовтня жов жовт "
    "οκτώβριος οκτωβρίου οκτ أكتوبر اكتوبر",
    "november nov novembre noviembre novembro listopadu noiembrie noi kasım kas marraskuu marraskuuta marras "
    "nopember studeni studenoga studenog stu ноябрь ноября ноя нояб листопад листопада лис лист "
    "νοέμβριος νοεμβρίου νοε νοεμ نوفمبر",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro desembre desember des grudzień grudnia gru "
    "prosinec prosince pro decembrie aralık ara joulukuu joulukuuta joulu prosinac prosinca декабрь декабря дек "
    "грудень грудня гру груд δεκέμβριος δεκεμβρίου δεκ ديسمبر",
)
_AMBIGUOUS_MONTHS = {"listopad": (10, 11), "listopada": (10, 11), "lis": (10, 11), "lip": (6, 7), "srp": (7, 8)}

_WEEKDAYS = (
    "monday mon montag mo lundi lun lu lunes lunedi lunedì segunda seg maandag ma dilluns måndag mandag mån man "
    "poniedziałek pon pn pondělí po luni hétfő pazartesi pzt maanantai senin "
    "понедельник пн понеділок δευτέρα δευ الاثنين",
    "tuesday tue tues tu dienstag di mardi mar ma martes martedi martedì terça ter dinsdag dimarts tisdag tirsdag "
    "tis tirs tir wtorek wt úterý út marți kedd salı sal tiistai ti selasa вторник вт вівторок τρίτη τρι الثلاثاء",
    "wednesday wed weds we mittwoch mi mercredi mer me miércoles mié mi mercoledi mercoledì quarta qua woensdag wo "
    "dimecres onsdag ons środa śr středa st miercuri szerda çarşamba çar keskiviikko ke rabu среда ср середа "
    "τετάρτη τετ الأربعاء",
    "thursday thu thur thurs th donnerstag do jeudi jeu je jueves jue giovedi giovedì gio quinta qui donderdag dijous "
    "torsdag tors tor to czwartek czw čtvrtek čt joi csütörtök perşembe per torstai kamis четверг чт четвер "
    "πέμπτη πεμ الخميس",
    "friday fri fr freitag vendredi ven ve viernes vie venerdi venerdì sexta sex vrijdag vr vrij divendres fredag fre "
    "piątek pt pátek pá vineri péntek cuma cum perjantai pe jumat пятница пт пʼятниця παρασκευή παρ الجمعة",
    "saturday sat sa samstag sonnabend samedi sam sábado sáb sabato sab zaterdag za zat dissabte lördag lørdag lör lør "
    "sobota sob so sâmbătă szombat cumartesi cmt lauantai la sabtu суббота сб субота σάββατο σαβ السبت",
    "sunday sun su sonntag so dimanche dim domingo do dom domenica zondag zo zon diumenge söndag søndag sön søn "
    "niedziela niedz nd neděle ne duminică vasárnap pazar paz sunnuntai minggu воскресенье вс неділя нд "
    "κυριακή κυρ الأحد",
)

_FILLERS = (
    "at on the of de del di du le la el il les las den der dem um am uhr h hs hrs hr hours uur om op kl klo ore alle "
    "à a às as em dia feira o'clock oclock t г года р року ч στις kell"
)

FILLERS = frozenset(map(fold, _FILLERS.split()))
"""Words between the parts of a date that say nothing."""


def _index(rows: tuple[str, ...], first: int) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for number, words in enumerate(rows, start=first):
        for word in dict.fromkeys(map(fold, words.split())):
            found[word] = (*found.get(word, ()), number)
    return found


MONTHS = _index(_MONTHS, 1) | _AMBIGUOUS_MONTHS
"""Folded name -> months (1 to 12) that it may mean."""

WEEKDAYS = _index(_WEEKDAYS, 0)
"""Folded name -> weekdays (Monday is 0) that it may mean."""

# Minutes east of UTC. Of names that several zones share, the one that the English-language press means by it.
_OFFSETS = {
    0: "z gmt ut utc wet uct", 60: "cet bst mez west wat met", 120: "cest mesz eet cat sast mest",
    180: "eest msk мск eat idt trt",
    210: "irst", 240: "gst msd azt", 270: "aft irdt", 300: "pkt uzt mvt", 330: "ist", 345: "npt", 360: "bdt almt",
    390: "mmt", 420: "ict wib", 480: "hkt sgt awst wita pht myt", 540: "jst kst wit", 570: "acst", 600: "aest chst",
    630: "acdt", 660: "aedt sbt", 720: "nzst fjt", 780: "nzdt", -60: "cvt azot", -120: "brst fnt", -150: "ndt",
    -180: "art brt clst adt uyt gft", -210: "nst", -240: "edt ast clt vet bot pyt gyt", -300: "est cdt cot pet ect",
    -360: "cst mdt", -420: "mst pdt", -480: "pst akdt", -540: "akst hdt", -600: "hst", -660: "sst",
}  # fmt: skip

ZONE_OFFSETS = {name: minutes for minutes, names in _OFFSETS.items() for name in names.split()}
"""Zone name in lower case -> minutes east of UTC (RFC 822 for the American ones)."""

ZONE_PLACES = {
    "et": "America/New_York", "ct": "America/Chicago", "mt": "America/Denver", "pt": "America/Los_Angeles",
}  # fmt: skip
"""Names that stand for a place's own time, with or without daylight saving."""

_AMERICAN = "est edt cst cdt mst mdt pst pdt akst akdt hst hdt et ct mt pt"
_ELSEWHERE = "bst cet cest mez mesz wet west eet eest msk ist aest aedt acst acdt awst nzst nzdt"
_AMERICAN_CITIES = "New_York Chicago Denver Los_Angeles Phoenix Detroit Anchorage"

MONTH_FIRST_ZONES = frozenset(_AMERICAN.split())
"""Zone names of a country that writes the month before the day."""
DAY_FIRST_ZONES = frozenset(_ELSEWHERE.split())
"""Zone names of places that write the day before the month."""
MONTH_FIRST_PLACES = frozenset(f"America/{city}" for city in _AMERICAN_CITIES.split()) | {"Pacific/Honolulu"}
"""IANA zones of the country that writes the month before the day."""
