/** HTML that clients show. https://spec.matrix.org/v1.16/client-server-api/#mroommessage-msgtypes */

const TAGS: ReadonlySet<string> = new Set(
  "del h1 h2 h3 h4 h5 h6 blockquote p a ul ol sup sub li b i u strong em s code hr br div table thead tbody tr th td caption pre span img details summary".split(
    " ",
  ),
);
const VOID: ReadonlySet<string> = new Set(["br", "hr", "img"]);
const BLOCKS: ReadonlySet<string> = new Set("p h1 h2 h3 h4 h5 h6 li blockquote pre br hr tr table ul ol".split(" "));

/** What people read. Throws for a tag that clients drop, one that is not closed, and an entity that is none. */
export function matrixHtmlText(html: string): string {
  const open: string[] = [];
  let text = "";
  let rest = 0;
  for (const tag of html.matchAll(/<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+="[^"<>]*")*)\s*>/g)) {
    text += plain(html.slice(rest, tag.index));
    rest = tag.index + tag[0].length;
    const [, slash, name = ""] = tag;
    if (!TAGS.has(name)) throw new Error(`clients show no <${name}>`);
    if (slash === "/") {
      if (open.pop() !== name) throw new Error(`</${name}> closes nothing`);
    } else if (!VOID.has(name)) open.push(name);
    if (BLOCKS.has(name) && !text.endsWith("\n")) text += "\n";
    if ((name === "td" || name === "th") && slash === "") text += " ";
  }
  text += plain(html.slice(rest));
  if (open.length > 0) throw new Error(`<${open.at(-1)}> is not closed`);
  return text;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

function plain(text: string): string {
  if (/[<>]/.test(text)) throw new Error("a < or > is not escaped");
  return text.replaceAll(/&([^;&\s]*);?/g, (whole, name: string) => {
    const character = whole.endsWith(";") ? ENTITIES[name] : undefined;
    if (character === undefined) throw new Error(`${whole} is no entity`);
    return character;
  });
}
