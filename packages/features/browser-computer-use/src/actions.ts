/** What the model can ask of a screen. The tool's input is flat, as models want it; `actionOf` holds each action to its fields. */
import { SvcError } from "@svc/contract";
import * as v from "valibot";

/** Pixels from the left and the top of the screen; the largest screen that is taken is one of 8K. */
export const MAX_X = 7679;
export const MAX_Y = 4319;

const whole = (min: number, max: number, description: string) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max), v.description(description));
const text = (max: number, description: string) =>
  v.pipe(v.string(), v.nonEmpty(), v.maxLength(max), v.description(description));

const FIELDS = {
  url: text(8192, "open: the address, with https:// or http://."),
  x: whole(
    0,
    MAX_X,
    "mouse_move, mouse_click, mouse_drag: pixels from the left of the last screenshot. scroll: where.",
  ),
  y: whole(0, MAX_Y, "The same from the top."),
  to_x: whole(0, MAX_X, "mouse_drag: where it ends."),
  to_y: whole(0, MAX_Y, "mouse_drag: where it ends."),
  button: v.pipe(v.picklist(["left", "middle", "right"]), v.description("mouse_click, mouse_drag. Default: left.")),
  double: v.pipe(v.boolean(), v.description("mouse_click: twice. Default: false.")),
  text: text(20_000, "key_type: the text to type into the focused element."),
  key: v.pipe(
    text(50, "key_press: a key or combination, e.g. Enter, ArrowDown, Control+a."),
    v.regex(/^[!-~\u00a1-\uffff]+$/, "The key is not the name of one."),
  ),
  direction: v.pipe(v.picklist(["up", "down", "left", "right"]), v.description("scroll: which way. Default: down.")),
  pixels: whole(1, 100_000, "scroll: how far. Default: 600."),
  seconds: v.pipe(v.number(), v.minValue(0.1), v.maxValue(60), v.description("wait: that long. Default: 1.")),
} as const;

const at = { x: FIELDS.x, y: FIELDS.y };

/** By action: its fields. The same names are in `params` of what the service is sent. */
const ACTIONS = [
  v.strictObject({ action: v.literal("open"), url: FIELDS.url }),
  v.strictObject({ action: v.literal("screen_capture") }),
  v.strictObject({ action: v.literal("screenshot") }),
  v.strictObject({ action: v.literal("mouse_move"), ...at }),
  v.strictObject({
    action: v.literal("mouse_click"),
    ...at,
    button: v.optional(FIELDS.button, "left"),
    double: v.optional(FIELDS.double, false),
  }),
  v.strictObject({
    action: v.literal("mouse_drag"),
    ...at,
    to_x: FIELDS.to_x,
    to_y: FIELDS.to_y,
    button: v.optional(FIELDS.button, "left"),
  }),
  v.strictObject({ action: v.literal("key_type"), text: FIELDS.text }),
  v.strictObject({ action: v.literal("key_press"), key: FIELDS.key }),
  v.strictObject({
    action: v.literal("scroll"),
    x: v.optional(FIELDS.x),
    y: v.optional(FIELDS.y),
    direction: v.optional(FIELDS.direction, "down"),
    pixels: v.optional(FIELDS.pixels, 600),
  }),
  v.strictObject({ action: v.literal("wait"), seconds: v.optional(FIELDS.seconds, 1) }),
  v.strictObject({ action: v.literal("get_url") }),
  v.strictObject({ action: v.literal("get_title") }),
] as const;
const anyAction = v.variant("action", ACTIONS);

export type ScreenAction = v.InferOutput<typeof anyAction>;
export type ScreenActionName = ScreenAction["action"];

export const screenInput = v.strictObject({
  action: v.pipe(v.picklist(ACTIONS.map(({ entries }) => entries.action.literal)), v.description("What to do.")),
  ...(Object.fromEntries(
    Object.entries(FIELDS).map(([name, field]) => [name, v.optional(field as never)]),
  ) as unknown as {
    [Name in keyof typeof FIELDS]: v.OptionalSchema<(typeof FIELDS)[Name], undefined>;
  }),
});
export type ScreenInput = v.InferOutput<typeof screenInput>;

/** Throws TOOL_BAD_INPUT that names the field which is missing, wrong, or not the action's. */
export function actionOf(input: ScreenInput): ScreenAction {
  const parsed = v.safeParse(anyAction, input);
  if (!parsed.success) {
    const field = String(parsed.issues[0].path?.[0]?.key ?? "");
    const named = field in FIELDS ? `${field} is missing, wrong, or not one of its fields` : "its fields are wrong";
    throw new SvcError("TOOL_BAD_INPUT", `The action ${input.action} can't be done: ${named}.`);
  }
  const action = parsed.output;
  if (action.action === "scroll" && (action.x === undefined) !== (action.y === undefined)) {
    throw new SvcError("TOOL_BAD_INPUT", "scroll takes x and y together, or neither.");
  }
  return action;
}

/** Read-only actions run freely. All others act on a person's screen, with the windows that are open there. */
const LOOKS: ReadonlySet<ScreenActionName> = new Set(["screen_capture", "screenshot", "wait", "get_url", "get_title"]);

export const screenApproval = ({ action }: Pick<ScreenInput, "action">): "auto" | "ask" =>
  LOOKS.has(action) ? "auto" : "ask";
