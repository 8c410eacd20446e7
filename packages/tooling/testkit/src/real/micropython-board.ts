/**
 * MicroPython 1.27 itself as a program: its raw REPL on standard input and output. It is the port to WebAssembly, with a module `machine` as
 * a Pico has it, whose pins and analog converter are simulated: each pin keeps its mode and level, an input reads its resistor, and the
 * converter of GPIO 26 to 29 reads a thousand for each number of the pin. This port ends raw paste mode before it takes a byte and then
 * waits for ever; so the mode is refused, as firmware without it does.
 */
import { readSync, writeSync } from "node:fs";
// @ts-expect-error It has no types.
import { loadMicroPython } from "@micropython/micropython-webassembly-pyscript/micropython.mjs";

interface MicroPython {
  readonly FS: { writeFile(path: string, text: string): void };
  replInit(): void;
  /** Not 0: the soft reset that Ctrl-D asks for. */
  replProcessChar(byte: number): number;
}

const MACHINE = `
_modes, _levels = {}, {}
class Pin:
    IN, OUT, PULL_UP, PULL_DOWN = 0, 1, 1, 2
    def __init__(self, n, mode=None, pull=None):
        if not 0 <= n <= 29:
            raise ValueError('invalid pin')
        self.n = n
        if mode is not None:
            _modes[n] = mode
            if mode == Pin.IN:
                _levels[n] = int(pull == Pin.PULL_UP)
    def value(self, level=None):
        if level is None:
            return _levels.get(self.n, 0)
        if _modes.get(self.n) == Pin.OUT:
            _levels[self.n] = int(bool(level))
class ADC:
    def __init__(self, pin):
        n = pin.n if isinstance(pin, Pin) else pin
        if not 26 <= n <= 29:
            raise ValueError("Pin doesn't have ADC capabilities")
        self.n = n
    def read_u16(self):
        return 1000 * self.n
`;

const buffer = Buffer.alloc(1);
/** Waits, as a board does. Null: the line has ended. */
function nextByte(): number | null {
  try {
    return readSync(0, buffer, 0, 1, null) === 1 ? buffer[0]! : null;
  } catch {
    return null;
  }
}

let last = 0;
/** A board ends lines with CR and LF. */
function print(bytes: Uint8Array): void {
  const cooked: number[] = [];
  for (const byte of bytes) {
    if (byte === 0x0a && last !== 0x0d) cooked.push(0x0d);
    cooked.push(byte);
    last = byte;
  }
  writeSync(1, Uint8Array.from(cooked));
}

const board = (await loadMicroPython({
  linebuffer: false,
  stdout: print,
})) as MicroPython;
board.FS.writeFile("/machine.py", MACHINE);
board.replInit();
const feed = (byte: number): void => {
  if (board.replProcessChar(byte) !== 0) board.replInit();
};
const CTRL_E = 0x05;
const PASTE = "A\x01";
for (let byte = nextByte(); byte !== null; byte = nextByte()) {
  if (byte !== CTRL_E) {
    feed(byte);
    continue;
  }
  const rest = [nextByte() ?? 0, nextByte() ?? 0];
  if (String.fromCharCode(...rest) === PASTE) writeSync(1, "R\x00");
  else [byte, ...rest].forEach(feed);
}
