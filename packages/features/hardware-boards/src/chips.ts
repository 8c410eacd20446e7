/** Boards and their chips. Each number is from the document that `source` names. */

export interface Region {
  readonly name: string;
  readonly start: number;
  readonly bytes: number;
}

export interface BoardData {
  readonly board: string;
  readonly chip: string;
  readonly architecture: string;
  readonly clockMhz: number;
  readonly memory: readonly Region[];
  readonly logicVolts: number;
  /** As gpio tools count them. */
  readonly pins: string;
  /** Undefined: none that is a pin. */
  readonly ledPin: number | undefined;
  readonly buses: readonly string[];
  readonly source: string;
}

const KB = 1024;

const stm32f4 = (flashKb: number, ramKb: number): readonly Region[] => [
  { name: "flash", start: 0x0800_0000, bytes: flashKb * KB },
  { name: "RAM", start: 0x2000_0000, bytes: ramKb * KB },
];

/** Program memory, data memory and EEPROM of an AVR are address spaces of their own. */
const avr = (flashKb: number, ramStart: number, ramKb: number, eepromKb: number): readonly Region[] => [
  { name: "flash (program space)", start: 0, bytes: flashKb * KB },
  { name: "RAM (data space)", start: ramStart, bytes: ramKb * KB },
  { name: "EEPROM", start: 0, bytes: eepromKb * KB },
];

const DATA: readonly BoardData[] = [
  {
    board: "nucleo-f401re",
    chip: "STM32F401RE",
    architecture: "ARM Cortex-M4",
    clockMhz: 84,
    memory: stm32f4(512, 96),
    logicVolts: 3.3,
    pins: "PA0 to PC15; the LED LD2 is PA5",
    ledPin: 5,
    buses: ["I2C", "SPI", "USART", "ADC"],
    source: "STMicroelectronics DS10086, STM32F401xD STM32F401xE; UM1724 for the LED",
  },
  {
    board: "nucleo-f411re",
    chip: "STM32F411RE",
    architecture: "ARM Cortex-M4",
    clockMhz: 100,
    memory: stm32f4(512, 128),
    logicVolts: 3.3,
    pins: "PA0 to PC15; the LED LD2 is PA5",
    ledPin: 5,
    buses: ["I2C", "SPI", "USART", "ADC"],
    source: "STMicroelectronics DS10314, STM32F411xC STM32F411xE; UM1724 for the LED",
  },
  {
    board: "arduino-uno",
    chip: "ATmega328P",
    architecture: "AVR",
    clockMhz: 16,
    memory: avr(32, 0x0100, 2, 1),
    logicVolts: 5,
    pins: "0 to 19; 0 and 1 are the serial port, 14 to 19 are A0 to A5",
    ledPin: 13,
    buses: ["I2C on 18 and 19", "SPI on 10 to 13", "ADC on A0 to A5"],
    source: "Microchip DS40002061, ATmega48A/PA/88A/PA/168A/PA/328/P; Arduino A000066",
  },
  {
    board: "arduino-mega",
    chip: "ATmega2560",
    architecture: "AVR",
    clockMhz: 16,
    memory: avr(256, 0x0200, 8, 4),
    logicVolts: 5,
    pins: "0 to 69; 0 and 1 are the serial port, 54 to 69 are A0 to A15",
    ledPin: 13,
    buses: ["I2C on 20 and 21", "SPI on 50 to 53", "ADC on A0 to A15"],
    source: "Microchip DS40002211, ATmega640/1280/1281/2560/2561; Arduino A000067",
  },
  {
    board: "raspberry-pi-pico",
    chip: "RP2040",
    architecture: "ARM Cortex-M0+, two cores",
    clockMhz: 133,
    memory: [
      { name: "ROM", start: 0, bytes: 16 * KB },
      { name: "flash (XIP)", start: 0x1000_0000, bytes: 2048 * KB },
      { name: "RAM", start: 0x2000_0000, bytes: 264 * KB },
    ],
    logicVolts: 3.3,
    pins: "0 to 22 and 25 to 28; 23 to 25 and 29 belong to the board, and to the radio of a Pico W",
    ledPin: 25,
    buses: ["I2C", "SPI", "UART", "ADC on 26 to 28", "PIO"],
    source:
      "Raspberry Pi, RP2040 Datasheet, 2.2 and 2.6; Raspberry Pi Pico Datasheet. A Pico 2 has an RP2350 with 520 kB of RAM",
  },
  {
    board: "esp32",
    chip: "ESP32",
    architecture: "Xtensa LX6, two cores",
    clockMhz: 240,
    memory: [
      { name: "ROM", start: 0x4000_0000, bytes: 448 * KB },
      { name: "RAM", start: 0x3ffa_e000, bytes: 520 * KB },
    ],
    logicVolts: 3.3,
    pins: "0 to 39, with gaps; 6 to 11 belong to the flash, 34 to 39 are inputs only",
    ledPin: undefined,
    buses: ["I2C", "SPI", "UART", "ADC"],
    source: "Espressif, ESP32 Series Datasheet. RAM has several banks; this is the first address",
  },
  {
    board: "microbit",
    chip: "nRF51822",
    architecture: "ARM Cortex-M0",
    clockMhz: 16,
    memory: [
      { name: "flash", start: 0, bytes: 256 * KB },
      { name: "RAM", start: 0x2000_0000, bytes: 16 * KB },
    ],
    logicVolts: 3.3,
    pins: "0 to 16, 19 and 20 of the edge connector",
    ledPin: undefined,
    buses: ["I2C on 19 and 20", "SPI on 13 to 15", "ADC on 0 to 4 and 10"],
    source:
      "Nordic, nRF51822 Product Specification. A micro:bit V2 has an nRF52833 with 512 kB of flash and 128 kB of RAM",
  },
];

export const knownBoards: readonly string[] = DATA.map(({ board }) => board);

/** `pico` is a `raspberry-pi-pico`, `esp32-s3` an `esp32`. */
export const dataOf = (board: string): BoardData | undefined =>
  DATA.find((data) => data.board === board) ??
  DATA.find((data) => board === "pico" && data.board === "raspberry-pi-pico") ??
  DATA.find((data) => board.startsWith(`${data.board}-`));
