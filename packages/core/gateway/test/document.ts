/** What /openapi.json promises, and whether an answer keeps it. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { isCanonicalPath } from "@svc/kit";
import { CORE_ROUTES, openApiDocument } from "../src/openapi.ts";

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

type Node = { readonly [key: string]: any };

export class Promises {
  readonly document: Node;
  readonly #ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false });
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(document: Node) {
    this.document = tightened(document);
    this.#ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    this.#ajv.addSchema({ $id: "document:", $defs: this.document["components"].schemas });
  }

  /** What is wrong with an answer; undefined when it is as promised. Paths that are not in the document are no matter. */
  broken(method: string, target: string, answer: Answered): string | undefined {
    const path = this.#pathOf(target);
    if (path === undefined || method === "OPTIONS") return undefined;
    const operation = this.document["paths"][path][(method === "HEAD" ? "GET" : method).toLowerCase()];
    const said = `${method} ${path} answered ${answer.status}`;
    if (operation === undefined) return answer.status === 405 ? undefined : `${said} and is not in the document`;
    const promised = operation.responses[answer.status];
    if (promised === undefined) return `${said}, which the document does not say`;
    for (const name of Object.keys(promised.headers ?? {})) {
      if (answer.headers[name.toLowerCase()] === undefined) return `${said} without ${name}`;
    }
    return method === "HEAD" ? undefined : this.#brokenBody(said, promised, answer);
  }

  #brokenBody(said: string, promised: Node, { headers, text }: Answered): string | undefined {
    const contents = promised["content"] ?? {};
    const [[type, content] = []] = Object.entries<Node>(contents);
    if (type === undefined) return text === "" ? undefined : `${said} with a body`;
    if (type !== "application/json")
      return String(headers["content-type"]) in contents ? undefined : `${said} with another type`;
    const schema = content!["schema"] as Node;
    const validate = this.#validator(schema);
    if (validate(JSON.parse(text))) return undefined;
    return `${said} with a body that is not as promised: ${this.#ajv.errorsText(validate.errors)}`;
  }

  #validator(schema: Node): ValidateFunction {
    const key = JSON.stringify(schema);
    const known = this.#compiled.get(key);
    if (known) return known;
    const compiled = this.#ajv.compile(JSON.parse(key.replaceAll("#/components/schemas", "document:#/$defs")));
    this.#compiled.set(key, compiled);
    return compiled;
  }

  #pathOf(target: string): string | undefined {
    const path = target.replace(/\?.*$/s, "");
    // One with a second spelling is no route's.
    if (!isCanonicalPath(path)) return undefined;
    const patterns = Object.keys(this.document["paths"]);
    return patterns.find((one) => one === path) ?? patterns.find((one) => patternOf(one).test(path));
  }
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);

/** Clients are to overlook what they don't know; here a field that the document does not name is a mistake. */
function tightened(node: any): any {
  if (Array.isArray(node)) return node.map(tightened);
  if (typeof node !== "object" || node === null) return node;
  const inner = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, tightened(value)]));
  const isClosed = node.type === "object" && node.properties && !("openapi" in node.properties);
  return isClosed && node.additionalProperties === undefined ? { ...inner, additionalProperties: false } : inner;
}

/** Core's own, as they are without a gateway that runs. */
export const CORE_PROMISES = new Promises(openApiDocument({ version: "1.2.3", routes: CORE_ROUTES }));
