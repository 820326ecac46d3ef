"""Query parameters that say how a reader came to a page, not which page it is.

Only names that are known to mean nothing else stand here. Names that some sites use for tracking and
others for the story itself (``cid``, ``sid``, ``source``, ``story``, ``ref``, ``id``, ``p``) are kept
everywhere, except where ``HOSTS`` knows better. A change here changes article ids: it needs a new
version of the rules (the ``1-`` of the ids).
"""

from __future__ import annotations

from typing import NamedTuple

TRACKING_PREFIXES = (
    "utm_",  # Google Analytics and all that imitate it
    "at_custom",  # AT Internet, Piano
    "at_link_",
    "at_ptr_",
    "at_bbc_",
    "mtm_",  # Matomo
    "pk_",
    "piwik_",
    "hsa_",  # HubSpot
    "__hs",
    "aspsessionid",
)

TRACKING_NAMES = frozenset({
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid", "fbclid", "msclkid",
    "yclid", "ysclid", "twclid", "ttclid", "li_fat_id", "igshid", "igsh", "epik", "irclickid", "irgwc", "ef_id",
    "s_kwcid", "rdt_cid", "sccid", "scclid", "wickedid", "obclid", "_ga", "_gl", "at_medium", "at_campaign",
    "at_campaign_type", "at_creation", "at_variant", "at_channel", "at_format", "at_general", "at_placement",
    "wt_mc", "wt_zmc", "wt.mc_id", "cmpid", "icid", "ncmpid", "ns_campaign", "ns_mchannel", "ns_source",
    "ns_linkname", "ns_fee", "_openstat", "_branch_match_id", "_branch_referrer", "xtor", "echobox", "mc_cid",
    "mc_eid", "mkt_tok", "vero_id", "vero_conv", "oly_enc_id", "oly_anon_id", "_hsenc", "_hsmi", "_ke", "_kx",
    "dm_i", "ml_subscriber", "ml_subscriber_hash", "bsft_clkid", "bsft_uid", "sailthru_id", "nr_email_referer",
    "fb_action_ids", "fb_action_types", "fb_ref", "fb_source", "__twitter_impression", "guccounter",
    "guce_referrer", "guce_referrer_sig", "amp_js_v", "amp_gsa", "amp_lite", "amp_r", "usqp", "aoh",
    "__amp_source_origin",
})  # fmt: skip
"""Click ids; analytics and campaigns; mail senders; sharing; AMP viewers and caches."""

SESSION_NAMES = frozenset(["phpsessid", "jsessionid", "sessid", "session_id", "cfid", "cftoken"])

AMP_FLAGS = frozenset(["amp", "isamp", "_amp", "is_amp", "amp_markup"])
"""Names that ask for the AMP form of a page, bare or with a value that means yes."""

AMP_VALUES = frozenset({("output", "amp"), ("outputtype", "amp"), ("view", "amp"), ("format", "amp"), ("mode", "amp")})
"""Pairs of name and value that ask for it."""


class HostParameters(NamedTuple):
    """What one site does differently: names dropped beside the general ones, names kept against them."""

    drop: frozenset[str] = frozenset()
    keep: frozenset[str] = frozenset()


HOSTS = {
    "bbc.co.uk": HostParameters(drop=frozenset({"ocid", "intlink_from_url", "link_location", "pinned_post_locator"})),
    "bbc.com": HostParameters(drop=frozenset({"ocid", "intlink_from_url", "link_location", "pinned_post_locator"})),
    "dw.com": HostParameters(drop=frozenset({"maca"})),
    "nytimes.com": HostParameters(drop=frozenset({"smid", "smtyp", "partner", "emc", "referringsource"})),
    "theguardian.com": HostParameters(drop=frozenset({"cmp"})),
    "washingtonpost.com": HostParameters(drop=frozenset({"itid", "wpisrc", "wpmm"})),
}
"""Registrable domain -> its own rules."""


def is_tracking(name: str, domain: str) -> bool:
    """Tells whether a parameter is dropped on a site.

    Args:
        name: The parameter's name in lower case.
        domain: Registrable domain of the address.
    """
    own = HOSTS.get(domain)
    if own is not None and (name in own.drop or name in own.keep):
        return name in own.drop
    return name in TRACKING_NAMES or name.startswith(TRACKING_PREFIXES)
