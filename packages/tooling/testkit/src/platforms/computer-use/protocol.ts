/** What the service takes, by docs/guide/browser.md. */
import * as v from "valibot";

const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const text = (max: number) => v.pipe(v.string(), v.nonEmpty(), v.maxLength(max));
const x = whole(0, 7679);
const y = whole(0, 4319);
const button = v.picklist(["left", "middle", "right"]);
const nothing = v.strictObject({});

const frame = {
  policy: v.strictObject({
    allowed_domains: v.array(text(300)),
    window_allowlist: v.array(text(300)),
    max_coordinate_x: v.literal(7679),
    max_coordinate_y: v.literal(4319),
  }),
  metadata: v.strictObject({
    session_name: v.pipe(v.string(), v.regex(/^svc-[0-9a-f]{32}$/)),
    source: v.literal("svc.browser"),
    version: text(100),
  }),
};
const request = <const Name extends string, Params extends v.GenericSchema>(action: Name, params: Params) =>
  v.strictObject({ action: v.literal(action), params, ...frame });

export const computerUseRequest = v.variant("action", [
  request("open", v.strictObject({ url: v.pipe(v.string(), v.regex(/^https?:\/\//), v.maxLength(8192)) })),
  request("screen_capture", nothing),
  request("screenshot", nothing),
  request("mouse_move", v.strictObject({ x, y })),
  request("mouse_click", v.strictObject({ x, y, button, double: v.boolean() })),
  request("mouse_drag", v.strictObject({ x, y, to_x: x, to_y: y, button })),
  request("key_type", v.strictObject({ text: text(20_000) })),
  request("key_press", v.strictObject({ key: v.pipe(text(50), v.regex(/^\S+$/)) })),
  request(
    "scroll",
    v.strictObject({
      x: v.optional(x),
      y: v.optional(y),
      direction: v.picklist(["up", "down", "left", "right"]),
      pixels: whole(1, 100_000),
    }),
  ),
  request("wait", v.strictObject({ seconds: v.pipe(v.number(), v.minValue(0.1), v.maxValue(60)) })),
  request("get_url", nothing),
  request("get_title", nothing),
]);

export type ComputerUseRequest = v.InferOutput<typeof computerUseRequest>;
