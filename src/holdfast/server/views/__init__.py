"""Conversion of rows, states and journals into payloads. No routes and no HTTP."""
