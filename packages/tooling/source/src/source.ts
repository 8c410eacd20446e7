/** `@svc/source`: one parsed source file: its syntax tree, its imports, and the line of a position. */
import { type Comment, type Node, parseSync, type Program, visitorKeys } from "oxc-parser";

export interface Source {
  readonly file: string;
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
  readonly imports: readonly Import[];
  /** Line of an offset, from 1. */
  lineOf(offset: number): number;
}

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** Erased before the program runs. */
  readonly typeOnly: boolean;
}

export const isTest = (file: string): boolean => /(?:^|\/)test\//.test(file) || file.endsWith(".test.ts");

/** Throws a `SyntaxError` naming the file: a check that skips unreadable files would pass them. */
export function parseSource(file: string, text: string): Source {
  const result = parseSync(file, text);
  const error = result.errors.find(({ severity }) => severity === "Error");
  if (error) throw new SyntaxError(`${file} does not parse: ${error.message}`);
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const lineOf = (offset: number): number => {
    const after = starts.findIndex((start) => start > offset);
    return after < 0 ? starts.length : after;
  };
  const { program } = result;
  const imports = importsOf(program).map(({ node, specifier, typeOnly }) => ({
    specifier,
    typeOnly,
    line: lineOf(node.start),
  }));
  return { file, text, program, comments: result.comments, imports, lineOf };
}

/** Calls `visit` for every node, parents first; `parents` ends with the direct one. */
export function walk(root: Node, visit: (node: Node, parents: readonly Node[]) => void): void {
  const parents: Node[] = [];
  const step = (node: Node): void => {
    visit(node, parents);
    parents.push(node);
    for (const key of visitorKeys[node.type] ?? []) {
      const child = (node as unknown as Record<string, unknown>)[key];
      for (const item of Array.isArray(child) ? child : [child]) if (isNode(item)) step(item);
    }
    parents.pop();
  };
  step(root);
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

function importsOf(program: Program): { node: Node; specifier: string; typeOnly: boolean }[] {
  const found: { node: Node; specifier: string; typeOnly: boolean }[] = [];
  walk(program, (node) => {
    if (node.type === "ImportDeclaration") {
      const typeOnly = node.importKind === "type" || (node.specifiers.length > 0 && node.specifiers.every(isTypeName));
      found.push({ node, specifier: node.source.value, typeOnly });
    } else if ((node.type === "ExportNamedDeclaration" || node.type === "ExportAllDeclaration") && node.source) {
      found.push({ node, specifier: node.source.value, typeOnly: node.exportKind === "type" });
    } else if (node.type === "ImportExpression" && node.source.type === "Literal") {
      found.push({ node, specifier: String(node.source.value), typeOnly: false });
    } else if (node.type === "TSImportType") {
      found.push({ node, specifier: node.source.value, typeOnly: true });
    }
  });
  return found;
}

const isTypeName = (specifier: { type: string; importKind?: string }): boolean => specifier.importKind === "type";
