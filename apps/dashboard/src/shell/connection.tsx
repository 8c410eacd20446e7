import { Button } from "../parts/button.tsx";
import { useServices } from "../services.ts";
import { useCell } from "../state/cell.ts";

/** Says that what is shown, or the page itself, may be old, while it may be. */
export function Connection() {
  const { live, hasNewerPage } = useServices();
  const state = useCell(live.state);
  const isOld = useCell(hasNewerPage);
  return (
    <div class="connection" role="status">
      {state === "again" && (
        <p>
          Connection lost, connecting again. This page may be out of date.{" "}
          <Button onPress={() => live.reconnect()}>Connect now</Button>
        </p>
      )}
      {state !== "again" && isOld && (
        <p>
          The service was upgraded; this page is of the version before.{" "}
          <Button onPress={() => location.reload()}>Reload</Button>
        </p>
      )}
    </div>
  );
}
