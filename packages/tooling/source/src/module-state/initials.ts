/** The values that a module begins with, and whether others get at them. */
import type { Program, VariableDeclarator } from "oxc-parser";
import type { Facts } from "./facts.ts";
import type { Initial } from "./initial.ts";

export function initialsOf({ source, scopes }: Facts, isStrict: boolean): Initial[] {
  const { program } = source;
  const declarators = new Set(scopes.module.map(({ node }) => node));
  const named = [...declarators].flatMap((node) => {
    if (node.type !== "VariableDeclarator" || !node.init) return [];
    return [{ value: node.init, declarator: node, isExported: isExported(node, program), isStrict }];
  });
  const unnamed = program.body.flatMap((statement) => {
    if (statement.type !== "ExportDefaultDeclaration" || /^(?:Function|Class|TS)/.test(statement.declaration.type))
      return [];
    return [{ value: statement.declaration, isExported: true, isStrict }];
  });
  return [...named, ...unnamed];
}

/** For messages. */
export const titleOf = ({ declarator }: Initial): string =>
  declarator === undefined ? "The default export" : declarator.id.type === "Identifier" ? declarator.id.name : "A name";

/** `export const a = …`, `export { a }`, `export default a`. */
function isExported(declarator: VariableDeclarator, { body }: Program): boolean {
  const name = declarator.id.type === "Identifier" ? declarator.id.name : undefined;
  return body.some((statement) => {
    if (statement.type === "ExportDefaultDeclaration") {
      return statement.declaration.type === "Identifier" && statement.declaration.name === name;
    }
    if (statement.type !== "ExportNamedDeclaration") return false;
    const { declaration, specifiers } = statement;
    if (declaration?.type === "VariableDeclaration") return declaration.declarations.includes(declarator);
    return !statement.source && specifiers.some(({ local }) => local.type === "Identifier" && local.name === name);
  });
}
