/** The static `"svc"` block of a package.json, as far as the suites compare it with what a feature does. */
import { readFileSync } from "node:fs";

export interface DeclaredNames {
  readonly packageName: string;
  readonly manifest: {
    readonly id: string | undefined;
    readonly sections: readonly string[];
    readonly tools: readonly string[];
    readonly ingress: readonly string[];
    readonly routes: readonly string[];
    readonly open: readonly string[];
  };
}

export function manifestOf(root: string): DeclaredNames {
  const json = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
    name?: string;
    svc?: Partial<DeclaredNames["manifest"]>;
  };
  if (json.svc === undefined) throw new Error('package.json has no "svc" block');
  const { id, sections = [], tools = [], ingress = [], routes = [], open = [] } = json.svc;
  return { packageName: json.name ?? "", manifest: { id, sections, tools, ingress, routes, open } };
}
