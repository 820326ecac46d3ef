"""What lines of news pages say that is not the story, in the languages of most of the press: patterns only."""

from __future__ import annotations

import re

AGENCIES = {
    "ap": "AP", "associated press": "AP", "the associated press": "AP", "reuters": "Reuters", "afp": "AFP",
    "agence france-presse": "AFP", "dpa": "dpa", "deutsche presse-agentur": "dpa", "efe": "EFE",
    "agencia efe": "EFE", "ansa": "ANSA", "pa": "PA", "pa media": "PA", "press association": "PA",
    "xinhua": "Xinhua", "kyodo": "Kyodo", "kyodo news": "Kyodo", "tass": "TASS", "upi": "UPI",
    "bloomberg": "Bloomberg", "bloomberg news": "Bloomberg", "ani": "ANI", "pti": "PTI", "ians": "IANS",
    "aap": "AAP", "apa": "APA", "sda": "SDA", "keystone-sda": "SDA", "belga": "Belga", "lusa": "Lusa",
    "the canadian press": "The Canadian Press", "canadian press": "The Canadian Press", "sid": "SID",
    "anadolu": "Anadolu", "anadolu agency": "Anadolu", "europa press": "Europa Press", "yonhap": "Yonhap",
    "interfax": "Interfax", "ntb": "NTB", "ritzau": "Ritzau", "stt": "STT", "anp": "ANP", "čtk": "ČTK",
    "pap": "PAP", "mti": "MTI", "epd": "epd", "kna": "KNA", "bernama": "Bernama", "antara": "Antara",
}  # fmt: skip
"""What agencies are called -> their usual short name."""


def _any_of(*forms: str) -> str:
    return "(?:" + "|".join(forms) + ")"


_AGENCY_LIST = r"(?:AFP|Reuters|AP|dpa|EFE|ANSA|Lusa|Belga|KNA|epd|SID|APA|sda|PA|agences|agencias|agenzie)"
_REPORT = r"(?:report|article|story|piece|dispatch|analysis)"
_CREDIT_FORMS = _any_of(
    rf".{{0,250}}\bcontributed (?:to|reporting (?:to|for|from)) (?:this|the) {_REPORT}\b.{{0,60}}",
    rf".{{0,250}}\bcontributed (?:reporting|to this .{{0,30}}{_REPORT})\b.{{0,60}}",
    r"(?:(?:additional |further )?(?:reporting|research|writing)|(?:re)?writing|editing|edited|compiled|translated|"
    r"copy[- ]?edited|fact[- ]checked|photographs?|photography|graphics?|reported|"
    r"with (?:additional )?(?:reporting|reports|assistance|files|inputs?)|inputs?) (?:by|from|with)\b.{1,300}",
    r"(?:this|the) (?:story|article|report|piece) (?:was|is|has been) (?:first |originally |also )?"
    r"(?:published|produced|written|reported|translated|a collaboration|part of)\b.{0,300}",
    r"(?:first|originally) (?:published|appeared) (?:in|on|by|at)\b.{1,120}",
    r"(?:mit (?:material|informationen|agenturmaterial) (?:von|der)|redigiert von|redaktion:|bearbeite[tr] von|"
    r"übersetzung:|(?:redaktionelle )?mitarbeit:)\s*.{1,250}",
    rf"(?:avec|con|com|mit) (?:l['’])?{_AGENCY_LIST}(?:[ ,/&]+(?:et |and |und |y |e )?{_AGENCY_LIST})*",
    r"con (?:información|informaciones|aportes|datos) de\b.{1,200}",
    r"con informazioni (?:di|da)\b.{1,200}",
    r"com informações (?:de|da|do|das|dos)\b.{1,200}",
    r"(?:source|quelle|fuente|fonte|bron|kilde|källa|zdroj|источник)\s*:\s*.{1,80}",
)
CREDIT = re.compile(rf"[\W_]*{_CREDIT_FORMS}[\W_]*", re.IGNORECASE | re.DOTALL)
"""Who made the report, and nothing else."""

_TRADE = (
    r"(?:(?:news|senior|staff|freelance|chief|political|national|reporter and|digital|associate|opinion|deputy|"
    r"award-winning|breaking|general assignment) ){0,4}(?:writer|reporter|editor|correspondent|journalist|"
    r"columnist|contributor|producer)\b"
)
_NAME = r"[A-Z][\w.'’-]+(?: [A-Z][\w.'’-]+){0,3}"
_WRITER = r"(?:him|her|them|me|us|the (?:reporters?|writers?|author))"
AUTHOR_NOTE = re.compile(
    _any_of(
        rf"{_NAME} is (?:an? |the )?{_TRADE} (?:for|at|with|in|on|based|covering|who|and)\b.{{1,500}}",
        rf".{{0,200}}\b(?:[Ff]ollow|[Tt]weet) (?:{_WRITER}|{_NAME})\b.{{0,30}}(?:@\w|\bon (?:Twitter|X|Facebook|"
        r"Instagram|Threads|Bluesky|LinkedIn|social media)\b).{0,200}",
        rf".{{0,200}}\b(?:[Cc]ontact|[Rr]each|[Ee]-?mail|[Ww]rite to) (?:{_WRITER}|{_NAME})\b"
        r".{0,20}\bat \S+@\S+.{0,100}",
        r".{0,120}\b(?:may|can) be (?:reached|contacted|e-?mailed) (?:at|on|via) \S+@\S+.{0,200}",
        r".{0,80}\b[Ss]end (?:your )?(?:news )?tips to\b.{1,200}",
        r"(?:Have|Got) a (?:news )?(?:tip|story)\?.{0,200}",
        r"\S+@\S+\.\w+|(?:https?://)?(?:www\.)?(?:twitter|x)\.com/\w+",
    ),
    re.DOTALL,
)
"""Who the author is and how to reach him; only believed at the end of a text."""

PICTURE_CREDIT = re.compile(
    r"(?:(?:photo|image|picture|video|photograph|illustration|graphic)s?(?: credits?)?|credits?|"
    r"foto(?:s|graf(?:ie|ia|o)?)?|bild(?:er)?|fotografía|imagen|imagem|photographie|illustratie|beeld|kuva|фото|"
    r"zdjęcie|写真|撮影)\s*[:：/]\s*.{2,90}",
    re.IGNORECASE,
)
"""Who took a picture."""

_SOCIAL = r"(?:facebook|twitter|x|instagram|google news|whatsapp|telegram|youtube|flipboard|threads|bluesky|linkedin)"
_PAYWALL_FORMS = (
    r"to (?:keep|continue|carry on) reading\b",
    r"(?:to|and) read (?:the (?:full|whole|rest)|this) .{0,30}(?:story|article)",
    r"subscribe (?:now|today|to (?:continue|read|keep|unlock|access|get full))",
    r"(?:already|are you) an? (?:subscriber|member)",
    r"(?:this|the) (?:article|content|story) is (?:only |exclusively )?(?:for|available to|reserved for) "
    r"(?:\w+ )?(?:subscribers|members)",
    r"(?:exclusive|reserved) (?:to|for) (?:our )?subscribers",
    r"you(?:'ve|’ve| have) (?:read|reached|used) .{0,40}articles\b",
    r"unlock (?:this|the) (?:article|story)",
    r"weiterlesen mit|jetzt (?:abonnieren und )?(?:weiterlesen|freischalten)",
    r"(?:dieser|der) (?:artikel|inhalt) ist (?:nur )?(?:für|exklusiv)",
    r"bereits (?:ein abo|abonnent)|als abonnent|mit \w*\+? ?abo weiterlesen",
    r"réservé (?:aux|à nos) abonnés|il vous reste .{0,20} de cet article|déjà abonné|pour lire la suite",
    r"(?:exclusivo|solo) para (?:suscriptores|socios)|ya (?:eres|soy) suscriptor|para (?:continuar|seguir) leyendo",
    r"riservato agli abbonati|sei già abbonato|exclusiv[oa] para assinantes|já é assinante",
    r"voor abonnees|al abonnee|forbeholdt abonnenter|残り\s?\d+文字|この記事は有料|会員限定|続きを読む",
)
PAYWALL = re.compile(_any_of(*_PAYWALL_FORMS), re.IGNORECASE)
"""Prompts that tell that the rest of the text is for payers."""

CONSENT = re.compile(
    _any_of(
        r"we and our (?:\d[\d.,]* )?(?:partners|vendors)",
        r"(?:we|this (?:web)?site) uses? cookies|(?:accept|allow) (?:all )?cookies to",
        r"manage your (?:cookie|privacy) (?:settings|choices|preferences)",
        r"to view this (?:content|video), (?:please )?(?:accept|enable)",
        r"wir und unsere (?:\d[\d.]* )?partner|um diesen inhalt (?:zu sehen|anzuzeigen)|externer? inhalt",
        r"nous et nos (?:\d+ )?partenaires|nosotros y nuestros (?:\d+ )?socios|noi e i nostri (?:\d+ )?partner",
    ),
    re.IGNORECASE,
)
"""Prompts for consent."""

# A request to the reader begins a sentence; the same words inside one are news about newsletters.
_PLEASE = r"(?:^|[.!?:…]\s+)\W*(?:please |click (?:here )?to |you can |and )?"
_PROMPT = re.compile(
    _any_of(
        rf"{_PLEASE}(?:sign up|sign-up|subscribe|register|join|get|receive)\b.{{0,120}}"
        r"\b(?:newsletters?|inbox|e-?mail (?:updates|alerts))\b",
        r"\bour (?:[\w-]+ ){0,4}newsletters?\b|\b(?:to|in) your inbox\b|^.{0,40}\bnewsletters?\W*$",
        r"subscribed to this newsletter|newsletter delivered\b",
        rf"subscribe to our\b|{_PLEASE}subscribe to\b",
        r"(?:sign|log) ?in (?:here )?to (?:continue|read|keep|access|comment)",
        r"(?:create|register for) (?:a|your) free account|start your .{0,40}(?:trial|subscription)",
        rf"{_PLEASE}follow .{{1,50}} on {_SOCIAL}\b|{_PLEASE}download .{{0,30}}app\b|download our\b.{{0,20}}\bapp\b",
        r"(?:get|stay) in touch with our",
        r"for (?:the latest|more) .{0,60}(?:stories|news)\b.{0,30}(?:like this|check|visit|follow|sign up)",
        r"(?:buying|purchases?|buy|order).{0,40}(?:through|via|using|from) (?:our|this|the|these) "
        r"(?:links?|post|site|page).{0,60}(?:commission|share)",
        r"affiliate (?:commission|links?)\b|\bwe independently\b|products? .{0,30}independently (?:selected|reviewed)",
        rf"{_PLEASE}join (?:our|the) (?:commenting forum|conversation|discussion)|to bookmark this article",
        r"bookmark your favou?rite|(?:confirm|enter) your (?:public )?display name|all rights reserved",
        r"^\W*(?:copyright\b|©)|personal, non-commercial use only",
        r"jetzt (?:abonnieren|testen)|kostenlos testen\W*$|einloggen,? um|um einen kommentar",
        r"newsletter.{0,80}(?:abonnieren|anmelden|bestellen)\b",
        r"(?:abonniere|melde dich|melden sie sich|unser).{0,60}newsletter",
        r"whatsapp-kanal.{0,100}(?:du|dich|sie)\b|abonnez-vous|inscrivez-vous à (?:la|notre) newsletter",
        r"suscríb[ea]te|tu suscripción|abbonati per|iscriviti alla newsletter|assine (?:para|já)",
        r"無断転載|무단\s?전재|재배포\s?금지",
    ),
    re.IGNORECASE,
)
# One of them is in every prompt; a cheap look that spares most lines the patterns.
_PROMPT_WORDS = (
    " reading", "to read ", "and read ", "subscri", "suscri", "newsletter", "inbox", "email", "e-mail", "a member",
    "our members", "for members", "articles", "this article", "the article is", "content is", "story is",
    "this story", "the story", "log in", "sign in", "login", "signin", "free account", "trial", "partner",
    "vendors", "cookie", "privacy", "to view th", "follow ", "download", "in touch", "for the latest", "for more ",
    "commission", "a share", "affiliate", "independently", "join ", "bookmark", "display name", "rights reserved",
    "copyright", "©", "non-commercial", "weiterlesen", " abo ", "ein abo", "abonn", "freischalten", "artikel ist",
    "inhalt", "testen", "einloggen", "kommentar", "whatsapp-kanal", "lire la suite", "partenaires", "leyendo",
    "socios", "suscripción", "assin", "abbonat", "iscriviti", "残り", "有料", "会員", "続き", "無断", "전재",
    "재배포",
)  # fmt: skip
_REPORTED = re.compile(
    r"\b(?:said|says|told|according to|sagte|erklärte|dijo|disse|ha detto|a déclaré|selon)\b", re.IGNORECASE
)


def is_prompt(line: str) -> bool:
    """Tells whether a line asks readers to pay, sign in, consent, subscribe, follow or comment, or states rights."""
    lower = line.lower()
    for word in _PROMPT_WORDS:
        if word in lower:
            break
    else:
        return False
    found = PAYWALL.search(line) or CONSENT.search(line) or _PROMPT.search(line)
    return found is not None and not _REPORTED.search(line)


CHROME = re.compile(
    r"[\W_]*"
    + _any_of(
        r"advertise(?:ment|ments| with us)|recommended videos?|leave a reply|post a comment|copy link|link copied",
        r"(?:\d+ |view |show |read |load |leave a )?comments?(?: \d+)?|share(?: (?:this|on) .{0,30})?",
        r"print(?: article)?|e-?mail|save|bookmark|follow|read more|more|popular",
        r"most (?:read|popular|viewed)(?: (?:in|on) .{1,30})?|trending(?: now)?|recommended(?: for you)?",
        r"related(?: articles?| stories| posts?| topics| content| news)?|you (?:may|might) also like|don['’]t miss",
        r"subscribed|thank you|loading|listen|skip ad|scroll (?:down )?to continue|tags?|topics?|filed under.{0,60}",
        r"(?:story|article) continues(?: below(?: advertisement)?| after advertisement)?|more from .{1,40}",
        r"tell us what you think|an error has occurred,? please try again later",
        r"anzeige|werbung|kommentare?|lesen sie auch|auch interessant|mehr zum thema|ähnliche(?: artikel)?|teilen",
        r"drucken|weiterführende links|kommentar abgeben|das könnte (?:sie|dich) (?:auch )?interessieren",
        r"publicité|passer la publicité|à lire aussi|partager|commentaires|publicidad|compartir|comentarios",
        r"te puede interesar|publicidade|compartilhar|comentários|leia também|pubblicità|condividi|commenti",
        r"leggi anche|lees ook|reclame|advertentie|læs også|les også|läs också|annons|annonse|reklama|článek",
        r"czytaj także|реклама|читайте также|おすすめ情報|関連記事|कॉपी लिंक|관련기사",
        r"(?:lesedauer|reading time|read time|tempo de leitura|temps de lecture|tiempo de lectura|tempo di lettura|"
        r"leestijd)\W*\d+.{0,12}|\d+\W?min(?:ute)?s?(?: of)? read(?:ing)?",
    )
    + r"[\W_]*",
    re.IGNORECASE,
)
"""Buttons, labels and heads of lists, as whole lines."""

SCRIPT = re.compile(
    r"(?:(?:var|let|const)\s+\w+\s*=|window\.\w|document\.\w|function\s*\w*\s*\(|\(\s*function|\w+(?:\.\w+)*\.push\(|\$\(|"
    r"googletag\b|if\s*\(typeof\b|try\s*\{|<!\[CDATA\[|@media\b|\.[\w-]+\s*\{).*[;})\]>]\s*",
    re.DOTALL,
)
"""Code that a page shows by mistake."""

LEAD_IN = re.compile(
    r"\W*"
    + _any_of(
        r"related|read (?:more|also|next|this|on)|see also|also (?:read|see)|also on \S+|recommended|don['’]?t miss",
        r"more (?:on|from|about|stories|news|:)|you (?:may|might) (?:also )?like|watch(?: (?:more|now|live))?:",
        r"click here|click to|up next|what to (?:read|know) next|trending|in case you missed|sign up|subscribe",
        r"lesen sie (?:auch|mehr|hier)|mehr (?:zum thema|dazu|lesen|:)|lesetipp|zum thema|zum artikel",
        r"auch interessant|siehe auch|lire aussi|à lire|a lire|lisez|voir aussi|notre dossier|pour aller plus loin",
        r"leer? (?:más|también|además)|lee también|te puede interesar|más información|ver también",
        r"le puede interesar|leggi anche|per approfondire|vedi anche|leia (?:também|mais)|veja também|saiba mais",
        r"lees ook|bekijk ook|læs også|les også|läs (?:också|även|mer)|lue myös",
        r"czytaj (?:też|także|więcej)|zobacz (?:też|także)|čtěte (?:také|taky)|přečtěte si",
        r"читайте (?:также|ещё)|читайте також|см\. также|по теме|baca juga|ayrıca okuyun",
        r"関連記事|関連ニュース|あわせて読みたい|延伸閱讀|相關新聞|相关阅读|관련\s?기사",
    ),
    re.IGNORECASE,
)
"""Words that lead to another story."""
