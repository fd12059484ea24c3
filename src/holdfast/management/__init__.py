"""Use cases of people and tools on top of the runtime: definitions, instances, tasks, schedules, nodes, the doctor."""
