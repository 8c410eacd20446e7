/** An answer with fonts: Markdown as HTML that holds nothing but what Markdown says. */

/** What is longer is a file more than a letter, and some ways of nesting take time by the square of it. */
const MAX_CHARS = 30_000;

/** Undefined: there is none of it, and the plain text says it all. */
export async function htmlOf(markdown: string): Promise<string | undefined> {
  if (markdown.length > MAX_CHARS || markdown.trim() === "") return undefined;
  const { Marked } = await import("marked");
  const marked = new Marked({ gfm: true, breaks: true, async: false });
  marked.use({
    renderer: {
      // What a model was made to write must not run, load or look like a part of the mail program.
      html: ({ text }) => escaped(text),
      image: ({ text, href }) => linked(escaped(text), href),
      link({ href, tokens }) {
        return linked(this.parser.parseInline(tokens), href);
      },
    },
  });
  const body = parsed(() => marked.parse(markdown) as string);
  if (body === undefined) return undefined;
  return `<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n${body}</body></html>\n`;
}

/** A thousand quotes in each other are too many for its stack. */
function parsed(work: () => string): string | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

const linked = (html: string, href: string): string =>
  /^(?:https?:\/\/|mailto:)/i.test(href) ? `<a href="${escaped(href)}">${html || escaped(href)}</a>` : html;

const escaped = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
