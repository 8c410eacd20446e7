/** Resolves an imported name to its declaration: imports by path, and of core packages by name. */
import type { Node } from "oxc-parser";
import { posix } from "node:path";
import type { Source } from "../source.ts";
import { bare } from "./changes.ts";
import { type Facts, factsOf } from "./facts.ts";
import { type Binding, isFunction } from "./scopes.ts";

/** A function or a class, and the file that it is in. */
export interface Code {
  readonly facts: Facts;
  readonly node: Node;
}

export class Modules {
  readonly #sources: ReadonlyMap<string, Source>;
  readonly #facts = new Map<string, Facts>();

  constructor(sources: readonly Source[]) {
    this.#sources = new Map(sources.map((source) => [source.file, source]));
  }

  facts(source: Source): Facts {
    const known = this.#facts.get(source.file) ?? factsOf(source);
    this.#facts.set(source.file, known);
    return known;
  }

  /** What an expression calls, where that is code that we have. */
  codeOf(expression: Node, parents: readonly Node[], facts: Facts): Code | undefined {
    const at = bare(expression);
    if (isCode(at)) return { facts, node: at };
    if (at.type !== "Identifier") return undefined;
    const binding = facts.scopes.find(at.name, parents);
    return binding && this.#codeOfBinding(binding, facts);
  }

  #codeOfBinding({ kind, node, from }: Binding, facts: Facts): Code | undefined {
    if (kind === "import") return this.#imported(node, facts);
    if (isCode(node)) return { facts, node };
    return from && isCode(bare(from)) ? { facts, node: bare(from) } : undefined;
  }

  #imported(specifier: Node, { source }: Facts): Code | undefined {
    if (specifier.type !== "ImportSpecifier" && specifier.type !== "ImportDefaultSpecifier") return undefined;
    const declaration = source.program.body.find(
      (statement) => statement.type === "ImportDeclaration" && (statement.specifiers as Node[]).includes(specifier),
    );
    const name = specifier.type === "ImportSpecifier" ? textOf(specifier.imported) : "default";
    return declaration?.type === "ImportDeclaration"
      ? this.#exported(source, declaration.source.value, name)
      : undefined;
  }

  #exported(from: Source, specifier: string, name: string, depth = 0): Code | undefined {
    const source = this.#sources.get(pathOf(from.file, specifier));
    if (!source || depth > 5) return undefined;
    const facts = this.facts(source);
    for (const statement of source.program.body) {
      if (statement.type === "ExportAllDeclaration") {
        const found = this.#exported(source, statement.source.value, name, depth + 1);
        if (found) return found;
      }
      if (statement.type === "ExportDefaultDeclaration" && name === "default") {
        return this.codeOf(statement.declaration, [source.program], facts);
      }
      if (statement.type !== "ExportNamedDeclaration") continue;
      const listed = statement.specifiers.find(({ exported }) => textOf(exported) === name);
      if (listed && statement.source) {
        return this.#exported(source, statement.source.value, textOf(listed.local), depth + 1);
      }
      const local = listed ? textOf(listed.local) : name;
      if (!listed && !statement.declaration) continue;
      const binding = facts.scopes.module.find((each) => each.name === local);
      if (binding && (listed || isWithin(binding.node, statement))) return this.#codeOfBinding(binding, facts);
    }
    return undefined;
  }
}

const isCode = (node: Node): boolean => isFunction(node) || node.type.startsWith("Class");

const isWithin = (inner: Node, outer: Node): boolean => inner.start >= outer.start && inner.end <= outer.end;

function pathOf(file: string, specifier: string): string {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(file), specifier);
  const [, name] = /^@svc\/([a-z-]+)$/.exec(specifier) ?? [];
  return name === undefined ? "" : `packages/core/${name}/src/index.ts`;
}

const textOf = (name: Node): string =>
  name.type === "Identifier" ? name.name : name.type === "Literal" ? String(name.value) : "";
