/** The drawing in docs/architecture.md and the rules of the layers check are one thing said twice: they must agree. */
import type { Check, Finding } from "../check.ts";
import { type Layer, LAYERS } from "../layers.ts";
import type { Workspace } from "../workspace.ts";

const PAGE = "docs/architecture.md";
const START = "<!-- layers -->";
const END = "<!-- /layers -->";

export const architecturePage: Check = {
  id: "architecture-page",
  rule: "The layers table in docs/architecture.md matches the layers check, with planned layers marked.",
  find(workspace) {
    const text = workspace.files.get(PAGE);
    if (text === undefined) return [{ file: PAGE, message: "The page is missing.", fix: "Write it." }];
    const rows = readTable(text);
    if (rows.length === 0) {
      return [{ file: PAGE, message: `No table between ${START} and ${END}.`, fix: "Put the layers table there." }];
    }
    const strangers = rows.filter(({ layer }) => !LAYERS.some(({ name }) => name === layer));
    return [
      ...strangers.map(({ layer, line }) =>
        wrong(`The table has a layer ${layer} that the check does not know.`, line),
      ),
      ...LAYERS.flatMap((layer) => compare(layer, rows, workspace)),
    ];
  },
};

interface Row {
  readonly layer: string;
  readonly folder: string;
  readonly imports: readonly string[];
  readonly planned: boolean;
  readonly line: number;
}

function compare(layer: Layer, rows: readonly Row[], workspace: Workspace): Finding[] {
  const row = rows.find((one) => one.layer === layer.name);
  if (!row) return [wrong(`The table has no row for ${layer.name}.`)];
  const found: Finding[] = [];
  if (row.folder !== layer.folder) found.push(wrong(`${layer.name} is in ${layer.folder}.`, row.line));
  if (row.imports.join() !== layer.imports.join()) {
    found.push(
      wrong(`${layer.name} may import ${layer.imports.join(", ") || "nothing"}; the table differs.`, row.line),
    );
  }
  const root = layer.folder.replace("*", "");
  const exists = [...workspace.files.keys()].some((file) => file.startsWith(root));
  if (exists === row.planned) {
    found.push(wrong(`${layer.name} ${exists ? "exists; the table says planned" : "does not exist yet"}.`, row.line));
  }
  return found;
}

const wrong = (message: string, line?: number): Finding => ({
  file: PAGE,
  ...(line !== undefined && { line }),
  message,
  fix: "Change the table, or packages/tooling/checks/src/layers.ts if the layers are meant to change.",
});

/** Rows of `| layer | folder | may import | state |` between the two marks. */
function readTable(text: string): Row[] {
  const lines = text.split("\n");
  const start = lines.indexOf(START);
  const end = lines.indexOf(END);
  if (start < 0 || end < start) return [];
  return lines.slice(start, end).flatMap((line, index) => {
    const cells = line.split("|").map((cell) => cell.trim());
    const layer = unquote(cells[1] ?? "");
    if (cells.length < 6 || layer === "layer" || /^-+$/.test(layer)) return [];
    const names = (cells[3] ?? "").split(",").map((name) => unquote(name.trim()));
    return [
      {
        layer,
        folder: unquote(cells[2] ?? ""),
        imports: names.filter((name) => name !== "–" && name !== ""),
        planned: cells[4] === "planned",
        line: start + index + 1,
      },
    ];
  });
}

const unquote = (cell: string): string => cell.replaceAll("`", "");
