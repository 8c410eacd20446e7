/** Push messages of this browser: on, off, with what is asked, tried, and what went wrong. */
import { useEffect } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Problem } from "../parts/problem.tsx";
import { Ago } from "../parts/time.tsx";
import { useServices } from "../services.ts";
import { useCell } from "../state/cell.ts";
import { useAction } from "../state/use-action.ts";

export function PushSwitch() {
  const { push } = useServices();
  const state = useCell(push.state);
  const read = useAction(() => push.read());
  const turn = useAction((on: boolean) => (on ? push.turnOn(false) : push.turnOff()));
  const detail = useAction((details: boolean) => push.turnOn(details));
  const test = useAction(() => push.test());
  useEffect(() => void read.run(), [push]);
  if (state.phase === "unsupported") {
    return <p class="hint">Push messages need a browser that has them, and this page over https or at localhost.</p>;
  }
  if (state.phase === "blocked") {
    return <p class="hint">This browser blocks notifications of this page. Its site settings allow them.</p>;
  }
  const isOn = state.phase === "on";
  return (
    <>
      <p class="hint">
        Push messages arrive while no page is open. They go encrypted through the push service of the browser, and say
        only that an approval is pending.
      </p>
      <div class="buttons">
        <Button busy={turn.isRunning} onPress={() => void turn.run(!isOn)}>
          {isOn ? "Turn push messages off" : "Send push messages to this browser"}
        </Button>
        {isOn && (
          <Button busy={test.isRunning} onPress={() => void test.run()}>
            Send a test message
          </Button>
        )}
      </div>
      {isOn && (
        <label class="choice">
          <input
            type="checkbox"
            checked={state.details}
            disabled={detail.isRunning}
            onChange={(event) => void detail.run(event.currentTarget.checked)}
          />{" "}
          Show what is asked, also on a locked screen
        </label>
      )}
      {isOn && state.last_sent_at !== null && (
        <p class="hint">
          Sent <Ago at={state.last_sent_at} />
        </p>
      )}
      {isOn && state.last_error !== null && (
        <p class="problem" role="alert">
          {state.last_error.message} <Ago at={state.last_error.at} />
        </p>
      )}
      <Problem error={read.error ?? turn.error ?? detail.error ?? test.error} />
    </>
  );
}
