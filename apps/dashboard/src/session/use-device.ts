import type { Device } from "../api/shapes.ts";
import { useServices } from "../services.ts";
import { useCell } from "../state/cell.ts";

/** Who is signed in. Undefined in the moment in which the sign-in ends. */
export function useDevice(): Device | undefined {
  const state = useCell(useServices().session.state);
  return state.phase === "in" ? state.device : undefined;
}

/** Whether the device may change things. The daemon decides; this only hides controls that it would refuse. */
export const useMayOperate = (): boolean => useDevice()?.scope === "operator";
