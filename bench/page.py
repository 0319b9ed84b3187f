"""The page of a record: pictures, then the tables.  `python -m bench.page FILE.json …` writes both beside the JSON."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import facts, table
from bench.charts import chart, sections
from bench.polybench import table as polybench_table
from bench.record import Record, read
from bench.superseded import delete_superseded
from bench.tuning import race_picture
from bench.tuning import table as tuning_table
from workbench.viz import Picture


def write_page(record: Record, file: Path) -> Path:
    """The page beside a JSON file, `<name>.md`, and its pictures, `<name>-….svg`."""
    head, _, rest = tables(record).partition("\n\n")
    pictures = [_picture(record, title, file) for title in sections(record)]
    shown = [f"![{title}]({picture.name})" for title, picture in zip(sections(record), pictures, strict=True)]
    if record.settings.get("campaign") == "against_tvm" and record.tuned:
        title = f"{record.settings['title']}, {record.date[:10]}, {record.machine['processor']}"
        race_picture.draw(record.tuned, file.with_suffix(".svg"), title)
        shown.append(f"![{title}]({file.with_suffix('.svg').name})")
    page = file.with_suffix(".md")
    page.write_text("\n\n".join([head, *shown, rest]).rstrip() + "\n", encoding="utf-8")
    return page


def leave(record: Record, folder: Path, kind: str = "") -> None:
    """Write the JSON and its page into a folder, delete what they make old, print tables and where the files are."""
    stamp = record.date.replace(":", "").replace("-", "").removesuffix("+0000")
    file = folder / f"{stamp}-{facts.short_commit()}{kind}.json"
    record.write(file)
    page = write_page(record, file)
    print(tables(record), flush=True)
    for old in delete_superseded(folder):
        print(f"measured again, so deleted: {old}", file=sys.stderr, flush=True)
    print(f"written: {file} and {page.name}", file=sys.stderr, flush=True)


def tables(record: Record) -> str:
    """The tables of a record, of operators, of C kernels or of a campaign of studies."""
    if "campaign" in record.settings:
        return tuning_table.markdown(record)
    return (polybench_table if "kernels" in record.settings else table).markdown(record)


def _picture(record: Record, title: str, file: Path) -> Path:
    rows = sections(record)[title]
    when = f"{title}, {record.date[:10]}, {record.machine['processor']}"
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return Picture(when, chart(rows, when)).save(file.with_name(f"{file.stem}-{words}.svg"), theme="auto")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page of each record."""
    parser = argparse.ArgumentParser("python -m bench.page", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    for file in parser.parse_args(arguments).files:
        print(write_page(read(file), file))
    return 0


if __name__ == "__main__":
    sys.exit(main())
