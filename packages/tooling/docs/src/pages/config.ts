/** docs/reference/config.md: every key of the config, from the one walk that the loader and the redaction use too. */
import type { FeatureDefinition } from "@svc/contract";
import { type SchemaKey, allowedValues, expectation, variableName, walkSchema } from "@svc/config";
import { type GeneratedPage, literal, madeFrom, prose } from "./page.ts";

export const configPage = (features: readonly FeatureDefinition[]): GeneratedPage => ({
  path: "docs/reference/config.md",
  render() {
    const sections = Map.groupBy(walkSchema(features).filter(isValue), ({ section }) => section);
    return `${INTRODUCTION}\n${[...sections].map(([name, keys]) => section(name, keys)).join("\n")}`;
  },
});

const INTRODUCTION = `# Config

${madeFrom("the schemas of the core and of the features")}

Everything that \`config.toml\` may say. The file is \`$SVC_HOME/config.toml\` (default \`~/.svc/config.toml\`); \`--config\` of a
command names another. \`svc config check\` tells every problem with its line, \`svc config show\` what is in force.

- **Environment.** Each key has a variable, and the variable beats the file. A list is written with commas, or as JSON. In the name
  of a key, \`<name>\` is a name of your choice; in a variable it is written in capitals, with \`_\` for everything that is no letter
  and no digit.
- **Secret.** Shown as dots, kept out of logs and answers, and encrypted in the file unless \`secrets.encrypt\` is false. Set one
  with \`svc secrets set\`, so that it is in no shell history.
- **Restart.** \`svc reload\` takes up every other key while the service runs; for these it says that \`svc restart\` is needed.
`;

/** A table whose keys follow by themselves says nothing that they don't. */
const isValue = ({ node }: SchemaKey): boolean => node.entries === undefined || node.type === "union";

function section(name: string, keys: readonly SchemaKey[]): string {
  const owners = [...new Set(keys.map(({ owner }) => owner))].filter((owner) => owner !== "core");
  const title = keys.every(({ key }) => key.startsWith(`${name}.*`)) ? `${name}.<name>` : name;
  const lines = [`## \`[${title}]\``, ""];
  if (owners.length > 0)
    lines.push(`Of ${owners.map((owner) => `\`${owner}\``).join(", ")}, in a build that has it.`, "");
  return `${[...lines, ...keys.flatMap(key)].join("\n")}`;
}

function key(one: SchemaKey): string[] {
  const { description, marks } = one.node;
  return [
    `### \`${named(one)}\``,
    "",
    ...(description === undefined ? [] : [prose(description), ""]),
    `- Takes: ${takes(one)}`,
    `- Default: ${standard(one)}`,
    ...(variables(one) === "" ? [] : [`- Environment: ${variables(one)}`]),
    ...(marks.secret ? ["- **Secret**"] : []),
    ...(marks.restart ? ["- **Restart** after a change"] : []),
    "",
  ];
}

const named = ({ path }: SchemaKey): string => path.map((part) => (part === "*" ? "<name>" : part)).join(".");

function takes({ node }: SchemaKey): string {
  const allowed = allowedValues(node);
  if (node.choices) return node.choices.map(literal).join(", ");
  return allowed === undefined ? expectation(node) : `${expectation(node)}, ${allowed}`;
}

function standard({ node, owner }: SchemaKey): string {
  if (node.default !== undefined) return literal(node.default);
  if (!node.required) return "not set";
  return owner === "core" ? "none; must be set where its table is there" : "none; must be set";
}

/** An item of a list has no variable: the list has. */
function variables({ path, node: { marks } }: SchemaKey): string {
  if (path.includes("[]")) return "";
  const own = `\`${variableName({ path }).replaceAll("*", "<NAME>")}\``;
  if (marks.env === undefined) return own;
  return `${own}; \`${marks.env}\`, ${marks.envMode === "fallback" ? "where the file is silent" : "which beats the file"}`;
}
