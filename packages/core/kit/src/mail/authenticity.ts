/**
 * Whether a mail's From is genuine. A sender can write any From header; the receiving server checks DMARC, DKIM and SPF, and
 * records the results (RFC 8601). Without this check anyone who knows an address on the allowlist could pass as its owner.
 */
import { type Headers, replaceQuoted } from "./headers.ts";

/** `unchecked`: the server says nothing of it. */
export type Authenticity = "proven" | "unproven" | "unchecked";

/**
 * `server`: the name under which the trusted server writes; its topmost header counts. Undefined: the topmost header of any
 * server. Headers further down may have been in the mail when it arrived, forged by its sender.
 */
export function authenticityOf(headers: Headers, address: string, server: string | undefined): Authenticity {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase();
  const words = headers.all("authentication-results").map(statementsOf);
  const [first] = server === undefined ? words : words.filter(({ by }) => by === server.toLowerCase());
  if (first === undefined) return "unchecked";
  const results = first.results.map(resultOf);
  // The domain's owner may demand more than we do.
  const isRefused = results.some(
    (result) => result.verdict === "dmarc=fail" && [domain, ""].includes(result.domain("header.from")),
  );
  return !isRefused && results.some((result) => proves(result, domain)) ? "proven" : "unproven";
}

interface Statements {
  /** Blank: one large provider does not say who it is. */
  readonly by: string;
  readonly results: readonly string[];
}

/** Without quoted texts and comments, in which the writer may have a say. */
function statementsOf(header: string): Statements {
  const text = replaceQuoted(header.slice(0, 10_000), "x");
  const [first = "", ...results] = text
    .replaceAll(/\([^()]*\)/g, " ")
    .split(";")
    .map((part) => part.trim().toLowerCase());
  return /^[a-z0-9-]+\s*=/.test(first)
    ? { by: "", results: [first, ...results] }
    : { by: first.split(/\s/)[0] ?? "", results };
}

interface Result {
  /** E.g. `spf=pass`. */
  readonly verdict: string;
  /** The domain in one of its properties; blank without. */
  domain(property: string): string;
}

function resultOf(text: string): Result {
  const [verdict = "", ...rest] = text
    .split("=")
    .map((part) => part.trim())
    .join("=")
    .split(/\s+/);
  const values = new Map(rest.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
  return { verdict, domain: (property) => values.get(property)?.split("@").at(-1) ?? "" };
}

function proves({ verdict, domain: about }: Result, domain: string): boolean {
  // DMARC names the From domain that it covers.
  if (verdict === "dmarc=pass") return about("header.from") === domain;
  if (verdict === "dkim=pass") return isAligned(about("header.i"), domain) || isAligned(about("header.d"), domain);
  if (verdict === "spf=pass") return isAligned(about("smtp.mailfrom"), domain);
  return false;
}

/** The same domain, or one below the other (RFC 7489, 3.1: relaxed). A bare top-level domain never counts. */
function isAligned(one: string, other: string): boolean {
  if (!one.includes(".") || !other.includes(".")) return false;
  return one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`);
}
