/** Math.random is guessable: a token, a code or an id made of it is anybody's. Jitter takes an injected source. */
import type { Check } from "../check.ts";
import { isTest, walk } from "@svc/source";

export const random: Check = {
  id: "random",
  rule: "The product calls no Math.random(): secrets come from node:crypto, jitter from an injected source.",
  find: (workspace) =>
    workspace
      .sources((file) => /^(?:apps|packages\/(?:core|features))\//.test(file) && !isTest(file))
      .flatMap(({ file, program, lineOf }) => {
        const lines: number[] = [];
        walk(program, (node) => {
          if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return;
          const { object, property } = node.callee;
          if (object.type !== "Identifier" || object.name !== "Math") return;
          if (property.type === "Identifier" && property.name === "random") lines.push(lineOf(node.start));
        });
        return lines.map((line) => ({
          file,
          line,
          message: "Math.random() is called.",
          fix: "Use randomBytes or randomInt of node:crypto; for jitter take `random: () => number` as an argument.",
        }));
      }),
};
