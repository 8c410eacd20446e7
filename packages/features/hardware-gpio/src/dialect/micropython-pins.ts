/**
 * Code that runs on a board, for its pins: each text defines `_svc_read(n, pull)`, `_svc_write(n, value)` or `_svc_analog(n)`, which
 * prints its answer.
 */

export interface PinFunctions {
  readonly machine: string;
  readonly circuitPython: string;
}

/** Boards with `machine.Pin` (Pico, ESP32 …), else the micro:bit with its own pin API. Reading an output leaves it an output. */
const READ_MACHINE_PIN = `def _svc_read(n, pull):
    try:
        from machine import Pin
    except ImportError:
        import microbit
        p = getattr(microbit, 'pin%d' % n)
        if pull is not None:
            p.set_pull({'up': p.PULL_UP, 'down': p.PULL_DOWN, 'none': p.NO_PULL}[pull])
        print(p.read_digital())
        return
    if pull is None:
        p = Pin(n)
    else:
        p = Pin(n, Pin.IN, {'up': Pin.PULL_UP, 'down': getattr(Pin, 'PULL_DOWN', 0), 'none': None}[pull])
    print(p.value())`;

const WRITE_MACHINE_PIN = `def _svc_write(n, value):
    try:
        from machine import Pin
    except ImportError:
        import microbit
        getattr(microbit, 'pin%d' % n).write_digital(value)
    else:
        Pin(n, Pin.OUT).value(value)
    print('done')`;

const READ_MACHINE_ANALOG = `def _svc_analog(n):
    try:
        from machine import ADC, Pin
    except ImportError:
        import microbit
        print(getattr(microbit, 'pin%d' % n).read_analog())
        return
    print(ADC(Pin(n)).read_u16())`;

/**
 * CircuitPython has no pins by number: they are attributes of modules, by their names on the chip or on the board. A pin that is in use is
 * held by its object, which keeps its level until it is read as an input.
 */
const CIRCUIT_PYTHON_PINS = `import digitalio
try:
    _svc_pins
except NameError:
    _svc_pins = {}
def _svc_pin(n):
    import microcontroller
    for name in ('GPIO%d' % n, 'IO%d' % n):
        if hasattr(microcontroller.pin, name):
            return getattr(microcontroller.pin, name)
    import board
    for name in ('GP%d' % n, 'IO%d' % n, 'D%d' % n):
        if hasattr(board, name):
            return getattr(board, name)
    raise ValueError('no pin %d' % n)
def _svc_open(n):
    if n in _svc_pins:
        _svc_pins.pop(n).deinit()
    return digitalio.DigitalInOut(_svc_pin(n))`;

const READ_CIRCUIT_PYTHON_PIN = `${CIRCUIT_PYTHON_PINS}
def _svc_read(n, pull):
    if n in _svc_pins and pull is None:
        print(int(_svc_pins[n].value))
        return
    p = _svc_open(n)
    try:
        p.switch_to_input({'up': digitalio.Pull.UP, 'down': digitalio.Pull.DOWN}.get(pull))
        print(int(p.value))
    finally:
        p.deinit()`;

const WRITE_CIRCUIT_PYTHON_PIN = `${CIRCUIT_PYTHON_PINS}
def _svc_write(n, value):
    if n in _svc_pins:
        _svc_pins[n].value = bool(value)
    else:
        p = _svc_open(n)
        p.switch_to_output(bool(value))
        _svc_pins[n] = p
    print('done')`;

export const PIN_READERS: PinFunctions = { machine: READ_MACHINE_PIN, circuitPython: READ_CIRCUIT_PYTHON_PIN };
export const PIN_WRITERS: PinFunctions = { machine: WRITE_MACHINE_PIN, circuitPython: WRITE_CIRCUIT_PYTHON_PIN };

const READ_CIRCUIT_PYTHON_ANALOG = `${CIRCUIT_PYTHON_PINS}
def _svc_analog(n):
    import analogio
    if n in _svc_pins:
        _svc_pins.pop(n).deinit()
    p = analogio.AnalogIn(_svc_pin(n))
    try:
        print(p.value)
    finally:
        p.deinit()`;

export const ANALOG_READERS: PinFunctions = {
  machine: READ_MACHINE_ANALOG,
  circuitPython: READ_CIRCUIT_PYTHON_ANALOG,
};
