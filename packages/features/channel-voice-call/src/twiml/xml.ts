/** XML 1.0 of elements, attributes and texts. A text can't become an element, whatever is in it. */

/** What is XML already. */
export interface Xml {
  readonly xml: string;
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Attributes that are undefined are left out. */
export function element(name: string, attributes: Attributes, ...children: readonly (Xml | string)[]): Xml {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escaped(String(value)).replaceAll('"', "&quot;").replaceAll(/\s/g, " ")}"`)
    .join("");
  if (children.length === 0) return { xml: `<${name}${written}/>` };
  const content = children.map((child) => (typeof child === "string" ? escaped(child) : child.xml)).join("");
  return { xml: `<${name}${written}>${content}</${name}>` };
}

export const document = (root: Xml): string => `<?xml version="1.0" encoding="UTF-8"?>${root.xml}`;

const escaped = (text: string): string =>
  sayable(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Without what XML can't hold (https://www.w3.org/TR/xml/#charsets), and line ends as a parser hands them over. */
export const sayable = (text: string): string =>
  text.replaceAll(/\r\n?/g, "\n").replaceAll(/[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "");
