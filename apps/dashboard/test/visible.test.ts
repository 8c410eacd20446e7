// People approve a command by its look: nothing in it may hide, reverse or move characters.
import { expect, test } from "vitest";
import { visible } from "../src/components/text.tsx";

test.each([
  ["plain words, tabs\tand\nlines", "plain words, tabs\tand\nlines"],
  ["rm -rf \u202e/", "rm -rf ⟨U+202E⟩/"],
  ["a\u200bb\u2066c\ufeff", "a⟨U+200B⟩b⟨U+2066⟩c⟨U+FEFF⟩"],
  ["a\rb\u001b[2K\u0000", "a⟨U+000D⟩b⟨U+001B⟩[2K⟨U+0000⟩"],
  ["a\u00a0b\u3000c\u2028d", "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+2028⟩d"],
  ["\u{e0041}\u3164\u2800", "⟨U+E0041⟩⟨U+3164⟩⟨U+2800⟩"],
  ["grüße, 漢字, עברית", "grüße, 漢字, עברית"],
])("%j is shown as %j", (text, shown) => {
  expect(visible(text)).toBe(shown);
});
