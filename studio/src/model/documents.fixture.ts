/** Documents for tests: a flowchart with nested containers, and a state machine. */

import type { Definition } from "./document";
import { withIds } from "./ids";

export const order: Definition = withIds({
  format: "holdfast/definition@1",
  id: "order",
  name: "Order",
  inputs: [{ name: "amount", type: "integer", required: true }],
  outputs: [{ name: "total", type: "integer" }],
  variables: [{ name: "result", type: "string" }],
  root: {
    id: "chart",
    type: "Flowchart",
    activities: [
      { id: "placed", type: "WriteLine", inputs: { text: { $python: "'Order over ' + str(amount)" } } },
      { id: "large", type: "FlowDecision", inputs: { condition: { $python: "amount > 1000" } } },
      {
        id: "kind",
        type: "FlowSwitch",
        cases: [
          { label: "A", condition: true },
          { label: "B", condition: false },
        ],
      },
      {
        id: "check",
        type: "If",
        inputs: { condition: { $variable: "result" } },
        // biome-ignore lint/suspicious/noThenProperty: `then` is a port of the activity If
        then: {
          id: "steps",
          type: "Sequence",
          activities: [
            { id: "one", type: "WriteLine" },
            { id: "two", type: "Delay", inputs: { duration: "P3D" } },
          ],
        },
        otherwise: { id: "else", type: "WriteLine", inputs: { text: "no" } },
      },
      { id: "end", type: "End" },
    ],
    connections: [
      { from: "placed", to: "large" },
      { from: "large", outcome: "True", to: "kind" },
      { from: "large", outcome: "False", to: "end" },
      { from: "kind", outcome: "A", to: "check" },
      { from: "kind", outcome: "B", to: "end" },
      { from: "check", to: "end" },
    ],
  },
});

export const machine: Definition = withIds({
  format: "holdfast/definition@1",
  id: "door",
  root: {
    id: "door-machine",
    type: "StateMachine",
    inputs: { initial: "Closed" },
    states: [{ name: "Closed" }, { name: "Open", entry: { id: "greet", type: "WriteLine", inputs: { text: "hi" } } }],
    transitions: [
      {
        name: "open",
        from: "Closed",
        to: "Open",
        trigger: { id: "knock", type: "Event", inputs: { event_name: "knock" } },
      },
    ],
  },
});
