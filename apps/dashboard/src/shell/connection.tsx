import { Button } from "../parts/button.tsx";
import { useServices } from "../services.ts";
import { useCell } from "../state/cell.ts";

/** Says that what is shown may be old, while it may be. */
export function Connection() {
  const { live } = useServices();
  const state = useCell(live.state);
  return (
    <div class="connection" role="status">
      {state === "again" && (
        <p>
          The connection was lost; connecting again. What you see may be old.{" "}
          <Button onPress={() => live.reconnect()}>Now</Button>
        </p>
      )}
    </div>
  );
}
