#!/usr/bin/env python3
"""What docs/code accepts, what it reports, and what --fix changes."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import shown_code

PROGRAM = """#include <leasehold.hpp>

    // [inner]
    int one()
    {
        // [other]
        return 1;
        // [/other]
    }
    // [/inner]
    int hidden();
    // [inner]
    int two();
    // [/inner]
"""
INNER = "int one()\n{\n    return 1;\n}\nint two();\n"


class ShownCode(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = shown_code.ROOT
        shown_code.ROOT = Path(folder.name)
        self.addCleanup(setattr, shown_code, "ROOT", root)
        (shown_code.ROOT / "one.cpp").write_text(PROGRAM)
        (shown_code.ROOT / "one.session").write_text("$ echo one\none\n")

    def page(self, text):
        path = shown_code.ROOT / "page.md"
        path.write_text(text)
        return shown_code.Page(path)

    def faults(self, text):
        return list(shown_code.faults(self.page(text), True))

    def test_equal_code_is_accepted(self):
        self.assertEqual(self.faults(f"<!-- code: one.cpp [inner] -->\n```cpp\n{INNER}```\n"), [])
        self.assertEqual(
            self.faults("<!-- code: one.session -->\n```console\n$ echo one\none\n```\n"), [])

    def test_text_and_code_marked_not_run_are_free(self):
        self.assertEqual(self.faults("```text\nout\n```\n"), [])
        self.assertEqual(self.faults("<!-- code: not run -->\n```console\n$ consul\n```\n"), [])

    def test_different_code_is_reported(self):
        text = "<!-- code: one.cpp [other] -->\n```cpp\nreturn 2;\n```\n"
        self.assertIn("differs from one.cpp", self.faults(text)[0])

    def test_code_without_a_file_is_reported(self):
        self.assertIn("no test runs", self.faults("```cpp\nint i;\n```\n")[0])

    def test_missing_file_and_missing_part_are_reported(self):
        for mark, message in (("two.cpp", "no file two.cpp"), ("one.cpp [last]", "has no part")):
            text = f"<!-- code: {mark} -->\n```cpp\n```\n"
            self.assertIn(message, self.faults(text)[0])

    def test_mark_without_a_fence_is_reported(self):
        self.assertIn("without a fence", self.faults("<!-- code: one.cpp -->\n\n```text\n```\n")[0])

    def test_fix_copies_the_code(self):
        before = "# Page\n\n<!-- code: one.cpp [inner] -->\n```cpp\nold\n```\n\nText.\n"
        after = before.replace("old\n", INNER)
        self.assertEqual(shown_code.fixed(self.page(before)), after)


if __name__ == "__main__":
    unittest.main()
