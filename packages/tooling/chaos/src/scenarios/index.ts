/** All scenarios, in the order in which they run. */
import { clock } from "./clock.ts";
import { diskFull } from "./disk-full.ts";
import { everyday } from "./everyday.ts";
import { kills } from "./kills.ts";
import { linkedDevice } from "./linked-device.ts";
import { locked } from "./locked.ts";
import { microphone } from "./microphone.ts";
import { outage } from "./outage.ts";
import { procedures } from "./procedures.ts";
import { relays } from "./relays.ts";
import { rooms } from "./rooms.ts";
import type { Report, ScenarioOptions } from "./scenario.ts";

export const SCENARIOS: Readonly<Record<string, (options: ScenarioOptions) => Promise<Report>>> = {
  kills,
  everyday,
  rooms,
  relays,
  "linked-device": linkedDevice,
  microphone,
  procedures,
  outage,
  "disk-full": diskFull,
  locked,
  clock,
};
