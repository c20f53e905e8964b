"""What tenants have paid ahead."""
