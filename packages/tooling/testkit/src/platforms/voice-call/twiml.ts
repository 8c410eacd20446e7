/**
 * TwiML as Twilio reads it: well-formed XML, known verbs with known attributes, nested as documented. Whatever else is in it is
 * an error, as strict as its validator. https://www.twilio.com/docs/voice/twiml
 */
import { SaxesParser, type SaxesTagPlain } from "saxes";

export interface TwimlNode {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Of the element itself, without those in it. */
  text: string;
  readonly children: TwimlNode[];
}

/** A document's, as the platform fetches it; what it takes in a request is shorter. */
const MAX_BYTES = 65_536;

/** The verbs of a document. Throws for what the platform would refuse. */
export function parseTwiml(document: string): readonly TwimlNode[] {
  if (Buffer.byteLength(document) > MAX_BYTES) throw new Error("12100: the document is larger than 64 KB");
  const root = treeOf(document);
  if (root.name !== "Response") throw new Error(`12100: the document begins with <${root.name}>`);
  if (root.text.trim() !== "") throw new Error("12200: there is text between the verbs");
  for (const verb of root.children) check(verb, VERBS);
  return root.children;
}

/** Of an XML document. Throws for what is none. */
export function treeOf(document: string): TwimlNode {
  const parser = new SaxesParser();
  const open: TwimlNode[] = [{ name: "", attributes: {}, text: "", children: [] }];
  parser.on("error", (error) => {
    throw new Error(`12100: ${error.message}`);
  });
  parser.on("opentag", ({ name, attributes }: SaxesTagPlain) => {
    const node: TwimlNode = { name, attributes: { ...attributes }, text: "", children: [] };
    open.at(-1)!.children.push(node);
    open.push(node);
  });
  parser.on("text", (text) => void (open.at(-1)!.text += text));
  parser.on("cdata", (text) => void (open.at(-1)!.text += text));
  parser.on("closetag", () => void open.pop());
  parser.write(document).close();
  return open[0]!.children[0]!;
}

interface VerbRule {
  readonly attributes: Readonly<Record<string, RegExp>>;
  readonly within?: readonly string[];
  readonly hasText?: true;
}

const COUNT = /^[0-9]{1,5}$/;
const URL_TEXT = /^https?:\/\/[^\s]+$/;
const METHOD = /^(?:GET|POST)$/;
const FLAG = /^(?:true|false)$/;
const LANGUAGE = /^[a-z]{2,3}(?:-[A-Za-z0-9]+)*$/;

const VERBS: Readonly<Record<string, VerbRule>> = {
  Say: { attributes: { voice: /^[\w.-]+$/, language: LANGUAGE, loop: COUNT }, hasText: true },
  Play: { attributes: { loop: COUNT, digits: /^[0-9w*#A-D]+$/ }, hasText: true },
  Pause: { attributes: { length: /^[1-9][0-9]{0,4}$/ } },
  Redirect: { attributes: { method: METHOD }, hasText: true },
  Hangup: { attributes: {} },
  Reject: { attributes: { reason: /^(?:rejected|busy)$/ } },
  Gather: {
    attributes: {
      action: URL_TEXT,
      method: METHOD,
      input: /^(?:dtmf|speech|dtmf speech|speech dtmf)$/,
      timeout: /^[1-9][0-9]{0,3}$/,
      speechTimeout: /^(?:auto|[1-9][0-9]{0,3})$/,
      numDigits: /^[1-9][0-9]?$/,
      finishOnKey: /^[0-9*#]?$/,
      language: LANGUAGE,
      hints: /./s,
      actionOnEmptyResult: FLAG,
      bargeIn: FLAG,
    },
    within: ["Say", "Play", "Pause"],
  },
  Record: {
    attributes: {
      action: URL_TEXT,
      method: METHOD,
      timeout: COUNT,
      maxLength: /^[1-9][0-9]{0,4}$/,
      finishOnKey: /^[0-9*#]*$/,
      playBeep: FLAG,
      trim: /^(?:trim-silence|do-not-trim)$/,
    },
  },
};

function check({ name, attributes, text, children }: TwimlNode, rules: Readonly<Record<string, VerbRule>>): void {
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  if (!rule) throw new Error(`12200: <${name}> is not known here`);
  for (const [key, value] of Object.entries(attributes)) {
    const form = Object.hasOwn(rule.attributes, key) ? rule.attributes[key] : undefined;
    if (!form) throw new Error(`12200: ${key} is no attribute of <${name}>`);
    if (!form.test(value)) throw new Error(`12200: ${key}=${JSON.stringify(value)} is wrong in <${name}>`);
  }
  if (!rule.hasText && text.trim() !== "") throw new Error(`12200: there is text in <${name}>`);
  if (name === "Say") checkSaid(text);
  if ((name === "Play" || name === "Redirect") && !URL_TEXT.test(text.trim()))
    throw new Error(`11100: no URL in <${name}>`);
  const within = Object.fromEntries((rule.within ?? []).map((inner) => [inner, VERBS[inner]!]));
  for (const child of children) check(child, within);
}

/** https://www.twilio.com/docs/api/errors/13521 */
function checkSaid(text: string): void {
  if (text.trim() === "") throw new Error("13520: there is nothing to say");
  if (encodeURIComponent(text).length > 4500) throw new Error("13521: too much to say");
}
