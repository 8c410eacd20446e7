/** Verifies the Matrix device of the service: another device scans a code, or both show the same symbols. */
import { useRef, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Name } from "../../parts/name.tsx";
import { QrCode } from "../../parts/qr-code.tsx";
import { useServices } from "../../services.ts";
import { useMayOperate } from "../../session/use-device.ts";
import { useRunningFeatures } from "../../shell/use-running-features.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { useTick } from "../../state/use-tick.ts";

/** Feature and channel that has such a device. */
const FEATURE = "channel-federated";
const CHANNEL = "federated";
const PATH = "/api/federated/verification";

/** A request of another device changes nothing that is told as an event. */
const REQUESTS_AGAIN_MS = 5_000;
const STATE_AGAIN_MS = 1_000;

type State = { readonly peer: string } & (
  | { readonly stage: "waiting" | "scanned" | "confirmed" | "done" }
  | { readonly stage: "scan"; readonly qr: readonly string[] }
  | { readonly stage: "compare"; readonly symbols: readonly { readonly symbol: string; readonly name: string }[] }
  | { readonly stage: "cancelled"; readonly reason: string }
);

/** A button for this channel, for operators. */
export function VerifyDevice({ channel }: { readonly channel: string }) {
  const running = useRunningFeatures();
  const mayOperate = useMayOperate();
  return channel === CHANNEL && mayOperate && running.has(FEATURE) ? <VerifyButton /> : null;
}

function VerifyButton() {
  const asked = useList<{ readonly requests: readonly string[] }>(PATH, []);
  const [isOpen, setOpen] = useState(false);
  useTick(REQUESTS_AGAIN_MS, () => void asked.refresh());
  const [first] = asked.data?.requests ?? [];
  return (
    <>
      {first !== undefined && (
        <p role="status">
          <Name>{first}</Name> asks to verify this device.
        </p>
      )}
      <Button kind={first === undefined ? "plain" : "main"} onPress={() => setOpen(true)}>
        Verify the device
      </Button>
      {isOpen && (
        <VerifyDialog
          peer={first}
          onClose={() => {
            setOpen(false);
            void asked.refresh();
          }}
        />
      )}
    </>
  );
}

function VerifyDialog({ peer, onClose }: { readonly peer: string | undefined; readonly onClose: () => void }) {
  const { api } = useServices();
  const [state, setState] = useState<State>();
  const take = useAction(async (step: string, matches?: boolean) => {
    const body = { step, ...(matches !== undefined && { matches }) };
    setState(await api.call<State>(PATH, { method: "POST", body }));
  });
  const poll = useAction(async () =>
    setState(await api.call<State>(PATH, { method: "POST", body: { step: "state" } })),
  );
  // The timer calls what it was first given.
  const tick = useRef(() => {});
  tick.current = () => {
    const isWaiting = state !== undefined && ["waiting", "scan", "confirmed"].includes(state.stage);
    if (isWaiting && !take.isRunning && !poll.isRunning) void poll.run();
  };
  useTick(STATE_AGAIN_MS, () => tick.current());
  const stage = state?.stage;
  const isOver = stage === "done" || stage === "cancelled";
  const actions: Readonly<Record<string, readonly [text: string, act: () => void]>> = {
    begin: [peer === undefined ? "Ask the other device" : "Accept", () => void take.run("begin")],
    scan: ["Compare symbols instead", () => void take.run("compare")],
    scanned: ["It says so", () => void take.run("answer", true)],
    compare: ["They are the same", () => void take.run("answer", true)],
    done: ["Done", onClose],
    cancelled: ["Try again", () => void take.run("begin")],
  };
  const [action, act] = actions[stage ?? "begin"] ?? ["Waiting", () => undefined];
  return (
    <Dialog
      title="Verify the Matrix device"
      action={action}
      kind="main"
      dismiss={isOver ? "Close" : "Not now"}
      busy={take.isRunning || stage === "waiting" || stage === "confirmed"}
      error={take.error ?? poll.error}
      onConfirm={act}
      onClose={onClose}
    >
      <div role="status">
        <Step state={state} peer={peer} />
      </div>
      {(stage === "compare" || stage === "scanned") && (
        <Button kind="danger" busy={take.isRunning} onPress={() => void take.run("answer", false)}>
          {stage === "compare" ? "They differ" : "It does not"}
        </Button>
      )}
    </Dialog>
  );
}

function Step({ state, peer }: { readonly state: State | undefined; readonly peer: string | undefined }) {
  if (state === undefined) {
    return peer === undefined ? (
      <p>The account's other devices, such as an app on a phone, are asked to verify this one.</p>
    ) : (
      <p>
        <Name>{peer}</Name> asks to verify this device.
      </p>
    );
  }
  const other = <Name>{state.peer}</Name>;
  switch (state.stage) {
    case "waiting":
      return <p>Waiting for {other}. Accept the verification there.</p>;
    case "confirmed":
      return <p>Waiting for {other} to say that it is right.</p>;
    case "scan":
      return (
        <div class="pairing">
          <p>Scan this code with {other}.</p>
          <QrCode
            modules={state.qr.map((row) => Array.from(row, (module) => module === "1"))}
            label="QR code of the verification"
          />
        </div>
      );
    case "scanned":
      return <p>{other} has scanned the code. Does it say that the code is right?</p>;
    case "compare":
      return (
        <>
          <p>Does {other} show the same symbols, in this order?</p>
          <ol class="symbols">
            {state.symbols.map(({ symbol, name }, at) => (
              <li key={at}>
                <span aria-hidden="true">{symbol}</span> <Name>{name}</Name>
              </li>
            ))}
          </ol>
        </>
      );
    case "done":
      return <p>Verified with {other}.</p>;
    case "cancelled":
      return (
        <p>
          Not verified: {other} ended it (<Name>{state.reason}</Name>).
        </p>
      );
  }
}
