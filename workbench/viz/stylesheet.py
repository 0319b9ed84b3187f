"""The styles of the HTML forms: one short sheet, everything below the class `wb`."""

from __future__ import annotations

from functools import cache

from workbench.viz.palette import COLOURS, Theme, variables
from workbench.viz.svg_drawing import MONO, SANS

# The class stands twice where JupyterLab has a rule of its own (tables, code), which one class would not outweigh.
_RULES = f"""
.wb{{color:var(--wb-ink);font:14px/1.45 {SANS};text-align:left}}
.wb .wb-live[hidden]{{display:block!important}}
.wb .wb-still{{display:none}}
.wb svg{{max-width:100%;height:auto;display:block}}
.wb h4{{font-size:14px;font-weight:600;margin:2px 0 6px}}
.wb .wb-note,.wb figcaption{{color:var(--wb-soft);font-size:12.5px;margin:4px 0;max-width:80ch}}
.wb.wb table{{border-collapse:collapse;margin:4px 0 8px;border:none;font-size:13px}}
.wb.wb th{{font-weight:600;color:var(--wb-soft);text-align:left}}
.wb.wb td,.wb.wb th{{padding:2px 18px 2px 0;border:none;background:none;vertical-align:baseline;text-align:left}}
.wb.wb td:first-child{{white-space:nowrap}}
.wb.wb tr{{background:none!important}}
.wb.wb thead tr{{border-bottom:1px solid var(--wb-grid)}}
.wb.wb td.wb-n{{text-align:right;font-variant-numeric:tabular-nums}}
.wb.wb .wb-m,.wb.wb pre,.wb.wb code{{font-family:{MONO};font-size:12.5px}}
.wb.wb pre{{margin:0;line-height:1.5;white-space:pre;word-break:normal;overflow-wrap:normal;
color:inherit;background:none;padding:0;border:none}}
.wb details{{margin:6px 0}}
.wb summary{{cursor:pointer;color:var(--wb-soft);font-size:12.5px}}
.wb math{{font-size:118%;font-family:math,"STIX Two Math","Latin Modern Math","Cambria Math","STIX Math",serif}}
.wb .wb-f{{margin:2px 0 2px 4px;padding:3px 0;overflow-x:auto}}
.wb .wb-note math{{font-size:104%}}
.wb .wb-side{{display:flex;flex-wrap:wrap;gap:12px 28px;align-items:flex-start}}
.wb .wb-side>div{{min-width:0;max-width:100%}}
.wb .wb-side>.wb-wide{{flex:1 1 520px}}
.wb .wb-code{{overflow-x:auto;max-width:100%;background:var(--wb-panel);border-radius:6px;padding:8px 12px 8px 0}}
.wb .wb-l{{color:var(--wb-soft);display:inline-block;width:3.2em;text-align:right;padding-right:1.1em;
user-select:none;opacity:.75}}
.wb .wb-b{{font-weight:600}}
"""


@cache
def stylesheet(theme: Theme) -> str:
    """CSS of the HTML forms for one theme, or for the page's ("auto")."""
    roles = "".join(f".wb .wb-{role}{{color:var(--wb-{role})}}" for role in COLOURS)
    return variables(theme) + _RULES.replace("\n", "") + roles
