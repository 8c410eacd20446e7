/** What the model can ask of a browser. The tool's input is flat, as models want it; `actionOf` holds each action to its fields. */
import { SvcError } from "@svc/contract";
import * as v from "valibot";

const text = (description: string, maxChars = 2000) =>
  v.pipe(v.string(), v.nonEmpty(), v.maxLength(maxChars), v.description(description));
const whole = (min: number, max: number, description: string) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max), v.description(description));

const target = text("An element: a ref such as @e3 of the last snapshot or find, or a CSS selector.");
const anyText = (description: string) => v.pipe(v.string(), v.maxLength(20_000), v.description(description));

/** Fields by name; one means the same in every action that has it. */
const FIELDS = {
  url: text("open, tabs new: the address, with https:// or http://. download: the file's, in place of target.", 8192),
  target,
  text: anyText("fill, type: what is written. wait: text that must be on the page."),
  key: text("press: a key or combination, e.g. Enter, Tab, ArrowDown, Control+a.", 50),
  direction: v.pipe(v.picklist(["up", "down", "left", "right"]), v.description("scroll: which way. Default: down.")),
  pixels: whole(1, 100_000, "scroll: how far. Default: 600."),
  values: v.pipe(
    v.array(v.pipe(v.string(), v.maxLength(2000))),
    v.minLength(1),
    v.maxLength(50),
    v.description("select: values or labels of the options."),
  ),
  seconds: v.pipe(
    v.number(),
    v.minValue(0.1),
    v.maxValue(60),
    v.description("wait: that long, if nothing else is said."),
  ),
  by: v.pipe(v.picklist(["role", "label", "text"]), v.description("find: what to look for.")),
  value: text("find: the role, e.g. button; or the label or text, a part of it is enough."),
  name: text("find by role: the element's accessible name, a part of it is enough."),
  interactive: v.pipe(v.boolean(), v.description("snapshot: only what can be clicked or filled in. Default: false.")),
  full_page: v.pipe(v.boolean(), v.description("screenshot: all of the page, not only what shows. Default: false.")),
  double: v.pipe(v.boolean(), v.description("click: twice. Default: false.")),
  paths: v.pipe(
    v.array(text("A path in the workspace.")),
    v.minLength(1),
    v.maxLength(10),
    v.description("upload: files of the workspace."),
  ),
  op: v.pipe(v.picklist(["list", "new", "switch", "close"]), v.description("tabs: what to do.")),
  tab: whole(0, 1000, "tabs switch, tabs close: a number from tabs list."),
} as const;

const ACTIONS = [
  v.strictObject({ action: v.literal("open"), url: FIELDS.url }),
  v.strictObject({
    action: v.literal("snapshot"),
    target: v.optional(target),
    interactive: v.optional(FIELDS.interactive),
  }),
  v.strictObject({ action: v.literal("click"), target, double: v.optional(FIELDS.double) }),
  v.strictObject({ action: v.literal("fill"), target, text: FIELDS.text }),
  v.strictObject({ action: v.literal("type"), target: v.optional(target), text: FIELDS.text }),
  v.strictObject({ action: v.literal("press"), target: v.optional(target), key: FIELDS.key }),
  v.strictObject({ action: v.literal("hover"), target }),
  v.strictObject({
    action: v.literal("scroll"),
    target: v.optional(target),
    direction: v.optional(FIELDS.direction),
    pixels: v.optional(FIELDS.pixels),
  }),
  v.strictObject({ action: v.literal("select"), target, values: FIELDS.values }),
  v.strictObject({
    action: v.literal("wait"),
    target: v.optional(target),
    text: v.optional(v.pipe(FIELDS.text, v.nonEmpty())),
    seconds: v.optional(FIELDS.seconds),
  }),
  v.strictObject({ action: v.literal("get_text"), target: v.optional(target) }),
  v.strictObject({ action: v.literal("get_title") }),
  v.strictObject({ action: v.literal("get_url") }),
  v.strictObject({ action: v.literal("find"), by: FIELDS.by, value: FIELDS.value, name: v.optional(FIELDS.name) }),
  v.strictObject({ action: v.literal("screenshot"), full_page: v.optional(FIELDS.full_page) }),
  v.strictObject({ action: v.literal("upload"), target, paths: FIELDS.paths }),
  v.strictObject({ action: v.literal("download"), target: v.optional(target), url: v.optional(FIELDS.url) }),
  v.strictObject({ action: v.literal("pdf") }),
  v.strictObject({
    action: v.literal("tabs"),
    op: FIELDS.op,
    url: v.optional(FIELDS.url),
    tab: v.optional(FIELDS.tab),
  }),
  v.strictObject({ action: v.literal("close") }),
] as const;
const anyAction = v.variant("action", ACTIONS);

/** One action with its own fields and no other. */
export type BrowserAction = v.InferOutput<typeof anyAction>;
export type BrowserActionName = BrowserAction["action"];

export const BROWSER_ACTIONS: readonly BrowserActionName[] = ACTIONS.map(({ entries }) => entries.action.literal);

/** The tool's input. */
export const browserInput = v.strictObject({
  action: v.pipe(v.picklist(BROWSER_ACTIONS), v.description("What to do.")),
  ...v.partial(v.strictObject(FIELDS)).entries,
});
export type BrowserInput = v.InferOutput<typeof browserInput>;

/** Throws TOOL_BAD_INPUT that names the field which is missing, or which the action does not have. */
export function actionOf(input: BrowserInput): BrowserAction {
  const parsed = v.safeParse(anyAction, input);
  if (!parsed.success) throw badInput(input.action, parsed.issues[0]);
  const action = parsed.output;
  if (action.action === "find" && action.name !== undefined && action.by !== "role") {
    throw new SvcError("TOOL_BAD_INPUT", "find takes name only together with by = role.");
  }
  if (action.action === "download" && (action.target === undefined) === (action.url === undefined)) {
    throw new SvcError("TOOL_BAD_INPUT", "download needs either target or url.");
  }
  if (action.action === "tabs") checkTabs(action);
  return action;
}

function badInput(action: BrowserActionName, issue: v.BaseIssue<unknown>): SvcError {
  const field = String(issue.path?.[0]?.key ?? "");
  // Only names that the schema knows: what was received is not repeated.
  if (!(field in FIELDS)) return new SvcError("TOOL_BAD_INPUT", `The input does not fit the action ${action}.`);
  if (issue.type === "strict_object" && issue.expected === "never") {
    return new SvcError("TOOL_BAD_INPUT", `The action ${action} does not take ${field}.`);
  }
  const missing = issue.type === "strict_object" || issue.received === "undefined";
  return new SvcError("TOOL_BAD_INPUT", `The action ${action} ${missing ? "needs" : "has a wrong"} ${field}.`);
}

function checkTabs({ op, url, tab }: Extract<BrowserAction, { action: "tabs" }>): void {
  if (url !== undefined && op !== "new") throw new SvcError("TOOL_BAD_INPUT", "tabs takes url only with op = new.");
  const numbered = op === "switch" || op === "close";
  if (numbered === (tab !== undefined)) return;
  throw new SvcError("TOOL_BAD_INPUT", numbered ? `tabs ${op} needs tab.` : `tabs ${op} does not take tab.`);
}

/**
 * Reading actions run freely, like a GET of another tool; acting on the page, or storing a file from it, needs an approval.
 * `open` is a GET of a host that the operator has listed.
 */
const ACTS: ReadonlySet<BrowserActionName> = new Set([
  "click",
  "fill",
  "type",
  "press",
  "select",
  "upload",
  "download",
  "pdf",
]);

export const browserApproval = ({ action }: Pick<BrowserInput, "action">): "auto" | "ask" =>
  ACTS.has(action) ? "ask" : "auto";
