/** A reader of profiles: S-expressions with strings, and what the rules of one come to for an operation on a path. */

export type Expression = string | Text | readonly Expression[];

export interface Text {
  readonly text: string;
}

/** All expressions of a profile. Throws for what is not balanced or not closed. */
export function parse(source: string): Expression[] {
  const open: Expression[][] = [[]];
  let at = 0;
  while (at < source.length) {
    const sign = source[at]!;
    if (sign === "(") open.push([]);
    else if (sign === ")") {
      const done = open.pop()!;
      const around = open.at(-1);
      if (around === undefined) throw new Error(`a bracket too many at ${at}`);
      around.push(done);
    } else if (sign === '"') {
      let text = "";
      for (at += 1; source[at] !== '"'; at += 1) {
        if (at >= source.length) throw new Error("a string is not closed");
        if (source[at] === "\\") at += 1;
        text += source[at];
      }
      open.at(-1)!.push({ text });
    } else if (!/\s/.test(sign)) {
      const word = /^[^\s()"]+/.exec(source.slice(at))![0];
      open.at(-1)!.push(word);
      at += word.length - 1;
    }
    at += 1;
  }
  if (open.length !== 1) throw new Error("a bracket is not closed");
  return open[0]!;
}

export interface Rule {
  readonly action: "allow" | "deny";
  readonly operations: readonly string[];
  readonly filters: readonly (readonly Expression[])[];
}

/** What comes after the version. Throws for anything that is no rule. */
export function rulesOf(source: string): Rule[] {
  const [version, ...rest] = parse(source);
  if (JSON.stringify(version) !== '["version","1"]') throw new Error("the version comes first");
  return rest.map((each) => {
    if (!Array.isArray(each)) throw new Error(`no rule: ${JSON.stringify(each)}`);
    const [action, ...parts] = each as Expression[];
    if (action !== "allow" && action !== "deny") throw new Error(`no rule: ${JSON.stringify(each)}`);
    const operations = parts.filter((part) => typeof part === "string");
    const filters = parts.filter((part) => Array.isArray(part)) as (readonly Expression[])[];
    if (operations.length === 0 || operations.length + filters.length !== parts.length)
      throw new Error(`odd: ${JSON.stringify(each)}`);
    return { action, operations, filters };
  });
}

/** Of the rules that match, the last one holds. */
export function isAllowed(rules: readonly Rule[], operation: string, path?: string): boolean {
  const matching = rules.filter(
    ({ operations, filters }) =>
      operations.some(
        (each) =>
          each === "default" || each === operation || (each.endsWith("*") && operation.startsWith(each.slice(0, -1))),
      ) &&
      (filters.length === 0 || filters.some((filter) => path !== undefined && matches(filter, path))),
  );
  return matching.at(-1)?.action === "allow";
}

function matches([name, value]: readonly Expression[], path: string): boolean {
  const text = typeof value === "object" && "text" in value ? value.text : undefined;
  if (name === "literal") return path === text;
  if (name === "subpath") return path === text || path.startsWith(`${text}/`);
  return false;
}
