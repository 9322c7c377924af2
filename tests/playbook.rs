//! playbook: tests to come.
