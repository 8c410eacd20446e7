/** The robot: how it is, what its sensors say, a stop at hand, and the simulated room from above. */
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirmed } from "../../parts/confirmed.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Shown } from "../../parts/shown.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { useTick } from "../../state/use-tick.ts";

interface Sensor {
  readonly name: string;
  readonly angle: number;
  readonly value: number | boolean | null;
  readonly age_ms: number | null;
}

interface Scene {
  readonly width: number;
  readonly height: number;
  readonly obstacles: readonly { readonly x: number; readonly y: number; readonly radius: number }[];
  readonly robot: { readonly x: number; readonly y: number; readonly heading: number; readonly radius: number };
}

interface Robot {
  readonly state: "idle" | "moving" | "latched" | "unmonitored";
  readonly movement: { readonly direction: string; readonly speed: number } | null;
  readonly latch: { readonly by: string; readonly at: string } | null;
  readonly last_stop: {
    readonly at: string;
    readonly message: string;
    readonly layer: number | null;
    readonly confirmed: boolean;
  } | null;
  readonly distances: readonly Sensor[];
  readonly bumpers: readonly Sensor[];
  readonly scene: Scene | null;
}

const TEXT = {
  title: "Robot",
  stop: "Stop",
  latch: "Emergency stop",
  latchQuestion: "Latch the emergency stop?",
  latchEffect: "The robot stops at once, and nothing moves it before you reset the emergency stop here.",
  reset: "Reset the emergency stop",
  resetQuestion: "Is it safe for the robot to move again?",
  resetEffect: "Agents can drive the robot again after this.",
  state: "State",
  movement: "Movement",
  moves: (direction: string, speed: number) => `${direction}, ${speed.toFixed(2)} m/s`,
  stands: "none",
  latched: "Latched by",
  lastStop: "Last stop",
  layer: (layer: number) => ` Safety layer ${layer}.`,
  unconfirmed: " The robot did not confirm it.",
  room: "The simulated room from above",
  sensors: "Sensors",
  sensor: "Sensor",
  angle: "Angle",
  says: "Reading",
  age: "Age",
  pressed: "pressed",
  free: "free",
  nothing: "nothing within range",
  ms: (age: number) => `${age} ms`,
  metres: (value: number) => `${value.toFixed(2)} m`,
} as const;

const COLUMNS: readonly Column<Sensor>[] = [
  { label: TEXT.sensor, cell: ({ name }) => name },
  { label: TEXT.angle, cell: ({ angle }) => `${angle}°`, narrow: true },
  { label: TEXT.says, cell: ({ value }) => readingOf(value), narrow: true },
  { label: TEXT.age, cell: ({ age_ms: age }) => (age === null ? "" : TEXT.ms(age)), narrow: true },
];

/** No event tells of each metre. */
const AGAIN_MS = 500;

export function Robot() {
  const robot = useList<Robot>("/api/safety", ["safety"]);
  useTick(AGAIN_MS, () => void robot.refresh());
  const { api } = useServices();
  const post = (path: string, body: object): Promise<unknown> =>
    api.call(path, { method: "POST", body }).finally(() => void robot.refresh());
  const stop = useAction(() => post("/api/safety/stop", {}));
  return (
    <>
      <Heading title={TEXT.title}>
        <span class="buttons">
          <Button kind="main" busy={stop.isRunning} onPress={() => void stop.run()}>
            {TEXT.stop}
          </Button>
          {robot.data?.state === "latched" ? (
            <Confirmed text={TEXT.reset} question={TEXT.resetQuestion} act={() => post("/api/safety/reset", {})}>
              <p>{TEXT.resetEffect}</p>
            </Confirmed>
          ) : (
            <Confirmed
              text={TEXT.latch}
              question={TEXT.latchQuestion}
              act={() => post("/api/safety/stop", { latch: true })}
            >
              <p>{TEXT.latchEffect}</p>
            </Confirmed>
          )}
        </span>
      </Heading>
      {stop.error && <Problem error={stop.error} />}
      <Shown read={robot}>
        {({ state, movement, latch, last_stop: last, scene, distances, bumpers }) => (
          <>
            <Facts
              facts={[
                [TEXT.state, <Badge key="state" state={state} busy={state === "moving"} />],
                [TEXT.movement, movement ? TEXT.moves(movement.direction, movement.speed) : TEXT.stands],
                [TEXT.latched, latch ? latch.by : undefined],
                [
                  TEXT.lastStop,
                  last ? (
                    <>
                      {last.message}
                      {last.layer !== null && TEXT.layer(last.layer)}
                      {!last.confirmed && TEXT.unconfirmed} <Ago at={last.at} />
                    </>
                  ) : undefined,
                ],
              ]}
            />
            {scene && <Room scene={scene} />}
            <Table
              label={TEXT.sensors}
              columns={COLUMNS}
              rows={[...distances, ...bumpers]}
              keyOf={({ name }) => name}
            />
          </>
        )}
      </Shown>
    </>
  );
}

function Room({ scene: { width, height, obstacles, robot } }: { readonly scene: Scene }) {
  const { x, y, heading, radius } = robot;
  return (
    <svg class="robot-room" role="img" aria-label={TEXT.room} viewBox={`0 0 ${width} ${height}`}>
      {obstacles.map((one) => (
        <circle key={`${one.x} ${one.y}`} class="obstacle" cx={one.x} cy={one.y} r={one.radius} />
      ))}
      <g class="robot" transform={`translate(${x} ${y}) rotate(${heading})`}>
        <circle r={radius} />
        <line x1={0} y1={0} x2={radius * 1.6} y2={0} />
      </g>
    </svg>
  );
}

function readingOf(value: Sensor["value"]): string {
  if (typeof value === "number") return TEXT.metres(value);
  if (value === null) return TEXT.nothing;
  return value ? TEXT.pressed : TEXT.free;
}
