/** Code that can make a ClientId can impersonate any client. Only the gateway mints one; the store reads stored ones back. */
import type { Node } from "oxc-parser";
import type { Check } from "../check.ts";
import { isTest, walk } from "@svc/source";

const MINTS: Readonly<Record<string, string>> = {
  "packages/core/gateway/src/identity.ts": "the one place that mints",
  "packages/core/store/src/devices/devices.ts": "reads a paired device's back from the database",
  "packages/core/store/src/sessions/session-rows.ts": "reads a session owner's back from the database",
  "apps/svc/src/service/local-client.ts": "reads back the ClientId of the local operator, minted by the gateway",
};

export const clientId: Check = {
  id: "client-id",
  rule: "Only the gateway mints a ClientId.",
  find: (workspace) =>
    workspace
      .sources((file) => /^(?:apps|packages)\//.test(file) && !isTest(file) && !isTestkit(file) && !(file in MINTS))
      .flatMap(({ file, program, lineOf }) => {
        const lines: number[] = [];
        walk(program, (node) => {
          if (casts(node)) lines.push(lineOf(node.start));
        });
        return lines.map((line) => ({
          file,
          line,
          message: "A value is turned into a ClientId here.",
          fix: `Take the ClientId as an argument. Only these make one: ${Object.keys(MINTS).join(", ")}.`,
        }));
      }),
};

const isTestkit = (file: string): boolean => file.startsWith("packages/tooling/testkit/");

/** `x as ClientId`, `<ClientId>x`, `x is ClientId`, and a call with the type argument (`custom<ClientId>()`). */
function casts(node: Node): boolean {
  switch (node.type) {
    case "TSAsExpression":
    case "TSTypeAssertion":
      return namesClientId(node.typeAnnotation);
    case "TSTypePredicate":
      return node.typeAnnotation != null && namesClientId(node.typeAnnotation.typeAnnotation);
    case "CallExpression":
      return node.typeArguments?.params.some((type) => namesClientId(type)) ?? false;
    default:
      return false;
  }
}

function namesClientId(type: Node): boolean {
  let found = false;
  walk(type, (node) => {
    if (node.type === "TSTypeReference" && node.typeName.type === "Identifier") {
      found ||= node.typeName.name === "ClientId";
    }
  });
  return found;
}
