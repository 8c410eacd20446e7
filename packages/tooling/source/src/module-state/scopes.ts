/** Which declaration a name of a file means: a check that goes by the name alone is fooled by a parameter of the same name. */
import type { Node, Program } from "oxc-parser";
import { walk } from "../source.ts";

export interface Binding {
  readonly name: string;
  readonly kind: "let" | "var" | "const" | "using" | "function" | "class" | "import" | "parameter" | "other";
  /** The declarator, function, class, specifier or pattern. */
  readonly node: Node;
  /** Lives as long as its module. */
  readonly isModule: boolean;
  /** The expression of its value, or one that contains it, if the declaration has one. */
  readonly from?: Node | undefined;
}

interface Place {
  /** The node that opens its scope. Default: the enclosing one. */
  readonly in?: Node;
  readonly from?: Node | null | undefined;
}

export interface Scopes {
  /** Undefined: a global. */
  find(name: string, parents: readonly Node[]): Binding | undefined;
  /** Of the module, in the order of the file. */
  readonly module: readonly Binding[];
}

export const isFunction = ({ type }: Node): boolean =>
  type === "FunctionDeclaration" || type === "FunctionExpression" || type === "ArrowFunctionExpression";

/** Declarations inside these are created anew on each call. */
const isCalled = (node: Node): boolean => isFunction(node) || node.type === "StaticBlock";

const OPENS =
  /^(?:Program|BlockStatement|StaticBlock|SwitchStatement|CatchClause|TSModuleBlock|For\w*Statement|ClassExpression)$/;

/** Methods that hand each element to a function. */
const ITERATES = new Set("every filter find findIndex findLast flatMap forEach map reduce some".split(" "));

export function scopesOf(program: Program): Scopes {
  const scopes = new Map<Node, Map<string, Binding>>();
  const all: Binding[] = [];
  walk(program, (node, parents) => {
    const declare = (pattern: Node | null, kind: Binding["kind"], options: Place = {}): void => {
      const home = options.in ?? enclosing(kind === "var" ? isVarHome : isScope, parents) ?? program;
      const isModule = !isCalled(home) && !parents.slice(0, parents.indexOf(home)).some(isCalled) && home !== node;
      for (const name of namesIn(pattern)) {
        const binding = { name, kind, node, isModule, from: options.from ?? undefined };
        const scope = scopes.get(home) ?? new Map<string, Binding>();
        scopes.set(home, scope.set(name, binding));
        all.push(binding);
      }
    };
    switch (node.type) {
      case "VariableDeclarator": {
        const [declaration, loop] = parents.slice(-2).toReversed() as [Node, Node];
        if (declaration.type !== "VariableDeclaration" || declaration.declare === true || parents.some(isAmbient))
          return;
        const kind = declaration.kind.endsWith("using") ? "using" : (declaration.kind as "let" | "var" | "const");
        return declare(node.id, kind, { from: node.init ?? iterated(declaration, loop) });
      }
      case "FunctionDeclaration":
        if (node.id) declare(node.id, "function");
        break;
      case "ClassDeclaration":
        return node.declare === true ? undefined : declare(node.id, "class");
      case "FunctionExpression":
      case "ClassExpression":
        if (node.id) declare(node.id, "other", { in: node });
        break;
      case "ImportSpecifier":
      case "ImportDefaultSpecifier":
      case "ImportNamespaceSpecifier":
        return declare(node.local, "import");
      case "CatchClause":
        return declare(node.param, "other", { in: node });
      case "TSEnumDeclaration":
        return declare(node.id, "other");
    }
    if (isFunction(node) && "params" in node) {
      const from = handed(node, parents.at(-1));
      for (const param of node.params as Node[]) declare(param, "parameter", { in: node, from });
    }
  });
  return {
    module: all.filter(({ isModule }) => isModule),
    find: (name, parents) =>
      parents
        .toReversed()
        .map((node) => scopes.get(node)?.get(name))
        .find((binding) => binding !== undefined),
  };
}

/** `declare module "x" { … }`: types only. */
const isAmbient = (node: Node): boolean => node.type === "TSModuleDeclaration" && node.declare;

const isScope = (node: Node): boolean => isFunction(node) || OPENS.test(node.type);
const isVarHome = (node: Node): boolean => isCalled(node) || node.type === "Program" || node.type === "TSModuleBlock";

const enclosing = (wanted: (node: Node) => boolean, parents: readonly Node[]): Node | undefined =>
  parents.findLast(wanted);

/** `rows` of `for (const row of rows)`. */
const iterated = (declaration: Node, loop: Node | undefined): Node | undefined =>
  (loop?.type === "ForOfStatement" || loop?.type === "ForInStatement") && loop.left === declaration
    ? loop.right
    : undefined;

/** `rows` of `rows.forEach((row) => …)`. */
function handed(callback: Node, call: Node | undefined): Node | undefined {
  if (call?.type !== "CallExpression" || call.callee.type !== "MemberExpression") return undefined;
  const { object, property } = call.callee;
  const isHanded = call.arguments[0] === callback && property.type === "Identifier" && ITERATES.has(property.name);
  return isHanded ? object : undefined;
}

/** Names that a pattern binds. */
export function namesIn(pattern: Node | null): string[] {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((each) => namesIn(each.type === "RestElement" ? each : each.value));
    case "ArrayPattern":
      return pattern.elements.flatMap((each) => namesIn(each));
    case "AssignmentPattern":
      return namesIn(pattern.left);
    case "RestElement":
      return namesIn(pattern.argument);
    case "TSParameterProperty":
      return namesIn(pattern.parameter);
    default:
      return [];
  }
}
