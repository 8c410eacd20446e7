/** What `probe` offers to features that know boards: what the chip itself says. */
import { type Capability, defineCapability } from "@svc/contract";

export interface LiveChip {
  /** The chip that the readings are of: `STM32F401RE`. */
  readonly chip: string;
  /** Its board: `nucleo-f401re`. */
  readonly board: string;
  /** The device id named this chip; false: the chip has none, and the caller named it. */
  readonly isIdentified: boolean;
  readonly deviceId: number | undefined;
  readonly revision: number | undefined;
  readonly memory: readonly LiveRegion[];
}

export interface LiveRegion {
  readonly name: "flash" | "RAM";
  readonly start: number;
  readonly bytes: number;
  /** The size was read from the chip, not taken from the data sheet. */
  readonly isLive: boolean;
}

export interface ChipProbe {
  /** Names of the boards whose chips can be read. */
  readonly boards: readonly string[];
  /**
   * Reads the chip that is connected. `chip`: its name or that of its board, where the caller knows it. Throws TOOL_BAD_INPUT, TOOL_FAILED,
   * CONFIG_INVALID, ADDRESS_REFUSED, REMOTE_*.
   */
  read(chip: string | undefined, signal: AbortSignal): Promise<LiveChip>;
}

export const CHIP_PROBE: Capability<ChipProbe> = defineCapability("chip-probe");
