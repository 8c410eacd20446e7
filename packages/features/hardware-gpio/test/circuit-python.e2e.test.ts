// CircuitPython: the code that svc sends is run by Python itself, on modules that are as strict as CircuitPython's: a pin that is in use can't
// be opened again, and one that is closed can't be used.
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ANALOG_READERS, PIN_READERS, PIN_WRITERS } from "../src/dialect/micropython.ts";

const MODULES = {
  digitalio: `
open_pins = {}
class Pull:
    UP = 'UP'
    DOWN = 'DOWN'
class DigitalInOut:
    def __init__(self, pin):
        if pin in open_pins:
            raise ValueError(pin + ' in use')
        open_pins[pin] = self
        self.pin, self.output, self.level, self.pull = pin, False, False, None
    def _check(self):
        if open_pins.get(self.pin) is not self:
            raise ValueError('Object has been deinitialized and can no longer be used')
    def deinit(self):
        open_pins.pop(self.pin, None)
    def switch_to_input(self, pull=None):
        self._check()
        self.output, self.pull = False, pull
    def switch_to_output(self, value=False):
        self._check()
        self.output, self.level = True, value
    @property
    def value(self):
        self._check()
        return self.level if self.output else self.pull == Pull.UP
    @value.setter
    def value(self, level):
        self._check()
        if not self.output:
            raise AttributeError('Cannot set value when direction is input.')
        self.level = level
`,
  analogio: `
from digitalio import DigitalInOut
class AnalogIn(DigitalInOut):
    @property
    def value(self):
        self._check()
        return 31000
`,
  microcontroller: "class pin:\n    GPIO25 = 'GPIO25'\n    GPIO4 = 'GPIO4'\n",
  board: "D13 = 'PA17'\n",
};

function run(...steps: readonly string[]): string {
  const home = temporaryHome();
  onTestFinished(() => home.remove());
  for (const [name, text] of Object.entries(MODULES)) writeFileSync(join(home.path, `${name}.py`), text);
  writeFileSync(join(home.path, "steps.py"), steps.join("\n"));
  const { stdout, stderr } = spawnSync("python3", [join(home.path, "steps.py")], { encoding: "utf8" });
  return `${stdout}${stderr.split("\n").at(-2) ?? ""}`.trim();
}

const read = (pin: number, pull = "None"): string => `${PIN_READERS.circuitPython}\n_svc_read(${pin}, ${pull})`;
const write = (pin: number, value: 0 | 1): string => `${PIN_WRITERS.circuitPython}\n_svc_write(${pin}, ${value})`;

test("pins are written, keep their level, and become inputs", (context) => {
  if (spawnSync("python3", ["--version"]).error)
    requireReal(context, { name: "python3", reason: "not on PATH; apt-get install python3" });
  const steps = [write(25, 1), read(25), write(25, 0), read(25), read(25, "'up'"), read(25, "'down'"), write(25, 1)];
  expect(run(...steps)).toBe("done\n1\ndone\n0\n1\n0\ndone");
  expect(run(write(13, 1), read(13), read(4))).toBe("done\n1\n0");
  const analog = `${ANALOG_READERS.circuitPython}\n_svc_analog(4)`;
  expect(run(write(4, 1), analog, analog, read(4))).toBe("done\n31000\n31000\n0");
  expect(run(read(99))).toBe("ValueError: no pin 99");
  expect(run("import digitalio", "held = digitalio.DigitalInOut('GPIO4')", write(4, 1))).toBe(
    "ValueError: GPIO4 in use",
  );
});
