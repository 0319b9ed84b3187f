"""Write the parser's tables after a change of grammar.lark, or with another version of Lark."""

from __future__ import annotations

from workbench.lang.syntax.tables import FILE, grammar_tables_text
from workbench.lang.syntax.tokens import Retag

if __name__ == "__main__":
    FILE.write_text(grammar_tables_text(Retag()), encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size} bytes")
