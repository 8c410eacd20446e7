/** Finds requests of the built site to other hosts. The site must work offline and must not report its readers. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Addresses in the scripts and styles of the theme that nothing is loaded from. */
const HARMLESS: readonly (readonly [address: RegExp, why: string])[] = [
  [/^http:\/\/www\.w3\.org\//, "the name of a kind of XML"],
  [/^http:\/\/a\.com$/, "a base to read paths against"],
  [/^https:\/\/vuejs\.org\/error-reference\//, "the text of an error"],
  [/^https:\/\/github\.com\/focus-trap\//, "the comment with a licence"],
  [/^https:\/\/api\.iconify\.design\//, "icons of social links; the site has no social links"],
  [/^https:\/\/docsearch\.algolia\.com$/, "the style of a search that the site does not have"],
];

/** `file: address` of each. */
export function requestsElsewhere(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(?:html|css|js)$/.test(file))
    .toSorted()
    .flatMap((file) => addressesIn(file, readFileSync(join(folder, file), "utf8")).map((one) => `${file}: ${one}`));
}

/** Pages load only embedded resources, so links don't count; in the theme's code every address counts. */
export function addressesIn(file: string, text: string): string[] {
  const isPage = file.endsWith(".html") || /\.md\.[^/]+\.js$/.test(file) || file.includes("@localSearchIndex");
  const found = [...text.matchAll(isPage ? EMBEDDED : ANY)].map((match) => match.groups?.["address"] ?? match[0]);
  return [...new Set(found)].filter((address) => isPage || !HARMLESS.some(([harmless]) => harmless.test(address)));
}

/** Of `<a href>` nothing is loaded. A script's own text has its quotes escaped. */
const EMBEDDED =
  /<(?:script|link|img|source|iframe|video|audio|track|object|embed|image|use)\b[^>]*?\b(?:src|srcset|href|data|poster)=\\?["']?(?<address>(?:https?:)?\/\/[^\s"'>\\]+)|@import\s+(?:url\()?\\?["']?(?<address>(?:https?:)?\/\/[^\s"')\\]+)|\burl\(\\?["']?(?<address>(?:https?:)?\/\/[^\s"')\\]+)/gi;

const ANY = /https?:\/\/[^\s"'`)\\<>;,]+|(?<=["'`(])\/\/(?<address>[a-z0-9-]+\.[a-z0-9.-]+[^\s"'`)\\<>]*)/gi;
