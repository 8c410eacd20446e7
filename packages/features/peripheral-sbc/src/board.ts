/** Which board this is, by the device tree that its kernel was started with. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export interface Board {
  /** As the device tree says, with the revision. */
  readonly model: string;
  /** As other boards are called, e.g. `raspberry-pi-4`. */
  readonly name: string;
  /** Label of the GPIO controller that has the pins of the header. */
  readonly chip: string;
  /** Line of the green LED. Undefined: it is on another controller. */
  readonly led: number | undefined;
  /** For a person. */
  readonly ledText: string;
}

/** Last pin of the 40-pin header; the lines behind it belong to the SD card, the radio and the LEDs. */
export const LAST_PIN = 27;

interface Family extends Omit<Board, "model"> {
  readonly form: RegExp;
}

/**
 * Labels are those of the drivers `pinctrl-bcm2835` and `pinctrl-rp1` of the kernel. On the Pi 5 the LED is line 9 of a controller of its
 * own, and GPIO 9 of the header is another pin.
 */
const FAMILIES: readonly Family[] = [
  {
    form: /^Raspberry Pi 3 Model B(?: Rev|$)/,
    name: "raspberry-pi-3",
    chip: "pinctrl-bcm2835",
    led: 47,
    ledText: "GPIO 47",
  },
  {
    form: /^Raspberry Pi 3 Model B Plus(?: |$)/,
    name: "raspberry-pi-3",
    chip: "pinctrl-bcm2835",
    led: 47,
    ledText: "GPIO 47",
  },
  {
    form: /^Raspberry Pi 4 Model B(?: |$)/,
    name: "raspberry-pi-4",
    chip: "pinctrl-bcm2711",
    led: 42,
    ledText: "GPIO 42",
  },
  {
    form: /^Raspberry Pi 5(?: |$)/,
    name: "raspberry-pi-5",
    chip: "pinctrl-rp1",
    led: undefined,
    ledText: "GPIO 9 of a controller of its own, not of the header",
  },
  {
    form: /^Raspberry Pi Zero 2 W(?: |$)/,
    name: "raspberry-pi-zero-2",
    chip: "pinctrl-bcm2835",
    led: 29,
    ledText: "GPIO 29",
  },
];

/** Undefined for everything but the boards above. */
export function boardOf(model: string): Board | undefined {
  const family = FAMILIES.find(({ form }) => form.test(model));
  if (!family) return undefined;
  const { name, chip, led, ledText } = family;
  return { model, name, chip, led, ledText };
}

/** The model from the device tree; undefined without one. `root`: of the file system. */
export async function readModel(root: string): Promise<string | undefined> {
  const read = (path: string): Promise<string> => readFile(join(root, path), "utf8");
  // The first is a link to the second, which a kernel without /proc/device-tree has too.
  const text = await read("proc/device-tree/model").catch(() =>
    read("sys/firmware/devicetree/base/model").catch(() => undefined),
  );
  // A property of the device tree ends with NUL.
  const model = text?.replaceAll(/[\0\p{Cc}]/gu, "").trim();
  return model === undefined || model === "" ? undefined : model.slice(0, 100);
}
