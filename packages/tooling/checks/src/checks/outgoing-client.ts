/** One guarded client refuses private addresses and follows redirects safely; a second way out would have no guard. */
import type { Node, Program } from "oxc-parser";
import type { Check, Finding } from "../check.ts";
import { packageName } from "../package-files.ts";
import { isTest, type Source, walk } from "@svc/source";

const MODULES = new Set(
  `node:http node:https node:http2 node:net node:tls node:dgram node:dns node:dns/promises
   http https http2 net tls dgram dns dns/promises
   undici axios got ky node-fetch cross-fetch ofetch superagent needle request ws`.split(/\s+/),
);
const GLOBALS = new Set(["fetch", "WebSocket", "EventSource", "XMLHttpRequest"]);

/** Doors of their own, with the reason. A platform's SDK is a dependency of its package, and needs none here. */
const EXCEPTIONS: readonly { readonly path: RegExp; readonly why: string }[] = [
  { path: /^packages\/core\/kit\/src\/outgoing\//, why: "the guarded client itself" },
  {
    path: /^packages\/core\/kit\/src\/browser\/guarding-proxy\.ts$/,
    why: "the proxy that guards browsers connects to addresses that FeatureContext.resolve has checked",
  },
  { path: /^packages\/core\/agent\/src\/models\//, why: "the model's address is the operator's own choice" },
  {
    path: /^packages\/features\/observability-otel\/src\/export\//,
    why: "so is the collector's; the library's exporter follows no redirect",
  },
  {
    path: /^packages\/core\/kit\/src\/process\/prove-confinement\.ts$/,
    why: "it listens on loopback, to see whether a confined command gets there",
  },
  {
    path: /^packages\/features\/[^/]+\/src\/(?:(?:socket\/)?line|link\/tcp-link)\.ts$/,
    why: "a socket goes to addresses that FeatureContext.resolve has checked, or to loopback that the config names, and nowhere else",
  },
];

export const outgoingClient: Check = {
  id: "outgoing-client",
  rule: "Features, the kit and the agent's tools reach the network only through the guarded client.",
  find: (workspace) =>
    workspace
      .sources(
        (file) =>
          /^packages\/(?:features\/[^/]+|core\/kit|core\/agent|core\/contract)\/src\//.test(file) &&
          !isTest(file) &&
          !EXCEPTIONS.some(({ path }) => path.test(file)),
      )
      .flatMap((source) => imported(source).concat(called(source))),
};

const FIX = "Use the fetch of ToolContext or FeatureContext.";

const imported = (source: Source): Finding[] =>
  source.imports
    .filter(({ specifier, typeOnly }) => !typeOnly && (MODULES.has(specifier) || MODULES.has(packageName(specifier))))
    .filter(({ specifier }) => !onlyAsks(source, specifier))
    .map(({ specifier, line }) => ({
      file: source.file,
      line,
      message: `${specifier} opens connections without the guard.`,
      fix: FIX,
    }));

/** What an address looks like opens no connection. */
const ASKING = new Set(["isIP", "isIPv4", "isIPv6"]);

/** Every import of this module stands at the top and is of such a name. */
function onlyAsks({ program, imports }: Source, module: string): boolean {
  const atTop = program.body.filter(
    (statement) => statement.type === "ImportDeclaration" && statement.source.value === module,
  );
  const isAsking = atTop.every(
    (statement) =>
      statement.type === "ImportDeclaration" &&
      statement.specifiers.every(
        (one) => one.type === "ImportSpecifier" && one.imported.type === "Identifier" && ASKING.has(one.imported.name),
      ),
  );
  return isAsking && atTop.length === imports.filter(({ specifier }) => specifier === module).length;
}

function called({ file, program, lineOf }: Source): Finding[] {
  const local = boundNames(program);
  const found: Finding[] = [];
  walk(program, (node, parents) => {
    const name = globalName(node, parents.at(-1), local);
    if (name === undefined) return;
    found.push({
      file,
      line: lineOf(node.start),
      message: `The global ${name} opens connections without the guard.`,
      fix: FIX,
    });
  });
  return found;
}

function globalName(node: Node, parent: Node | undefined, local: ReadonlySet<string>): string | undefined {
  if (node.type === "MemberExpression" && node.object.type === "Identifier" && node.object.name === "globalThis") {
    const name =
      node.property.type === "Identifier" ? node.property.name : String((node.property as { value?: unknown }).value);
    return GLOBALS.has(name) ? name : undefined;
  }
  if (node.type !== "Identifier" || !GLOBALS.has(node.name) || local.has(node.name)) return undefined;
  const used =
    parent?.type === "CallExpression" ||
    parent?.type === "NewExpression" ||
    (parent?.type === "VariableDeclarator" && parent.init === node) ||
    (parent?.type === "Property" && parent.value === node && parent.kind === "init");
  return used ? node.name : undefined;
}

/** Names the file binds itself: a `fetch` taken from a context is the guarded one. */
function boundNames(program: Program): ReadonlySet<string> {
  const names = new Set<string>();
  walk(program, (node) => {
    const patterns: readonly Node[] =
      node.type === "VariableDeclarator"
        ? [node.id]
        : /Function/.test(node.type) && "params" in node && Array.isArray(node.params)
          ? [...(node.params as Node[]), ...("id" in node && node.id ? [node.id as Node] : [])]
          : node.type === "ImportSpecifier"
            ? [node.local]
            : [];
    for (const pattern of patterns) {
      walk(pattern, (part) => {
        if (part.type === "Identifier") names.add(part.name);
      });
    }
  });
  return names;
}
