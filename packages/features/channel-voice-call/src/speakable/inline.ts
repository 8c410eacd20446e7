/** What is said of a line: the text of links, the name of an address, and no marks. */
import { type Inline, type Link, plainOf } from "@svc/kit/markdown";

export const spokenInline = (inlines: readonly Inline[]): string =>
  inlines
    .map((inline) => {
      if (inline.kind === "link") return spokenLink(inline);
      if (inline.kind === "break") return "\n";
      return "text" in inline ? inline.text : spokenInline(inline.children);
    })
    .join("");

/** Of an address that is its own text, the host: nobody wants to hear the rest. */
function spokenLink({ form, target, children }: Link): string {
  const text = plainOf(children);
  const isAddress = URL.canParse(text) && /^https?:/i.test(text);
  if (isAddress) return new URL(text).hostname.replace(/^www\./, "");
  const said = spokenInline(children).trim();
  return said === "" && form !== "image" ? target.replace(/^mailto:/, "") : said;
}
